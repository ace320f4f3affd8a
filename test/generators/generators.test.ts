import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { guideReport } from '../clients/guide-events.ts';
import { npmStart, type Started } from '../clients/npm-start.ts';
import { pythonWith } from '../clients/python.ts';
import { isHere, runInstaller, runProgram } from '../clients/run-program.ts';
import { readGuide } from '../clients/snippet.ts';
import { fetchAgain } from '../fetch-again.ts';
import { npmGenerators, oapiCodegen, openApiGenerator, openApiPythonClient } from './toolbox.ts';

const guide = await readGuide('generated-clients.md');
// What the client that openapi-generator makes depends on; its own requirements are looser.
const LIBRARIES = [
  'urllib3==2.6.2',
  'pydantic==2.12.5',
  'python-dateutil==2.9.0.post0',
  'typing-extensions==4.15.0',
];
const [generator, goTools, pythonTools, npmTools, python, hasCurl, hasDotnet] = await Promise.all([
  openApiGenerator(),
  oapiCodegen(),
  openApiPythonClient(),
  npmGenerators(),
  pythonWith('generated-python', LIBRARIES),
  isHere('curl', '--version'),
  isHere('dotnet', '--version'),
]);
const expected = guideReport(['Mobile', 'Tablet']);

let started: Started;
let directory: string;
beforeAll(async () => {
  started = await npmStart();
});
afterAll(() => started.close());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'performance-reports-generated-'));
  return () => rm(directory, { recursive: true, force: true });
});

/** Runs a command in the directory of the test. */
const run = (command: string, ...parameters: string[]) =>
  runProgram(command, parameters, {
    cwd: directory,
    env: {
      ...started.environment,
      GENERATOR: generator ?? '',
      PATH: [
        ...[goTools, pythonTools, join(npmTools, 'node_modules', '.bin')].filter((path) => path),
        process.env['PATH'],
      ].join(delimiter),
    },
  });
/** Compiles a program, and downloads the libraries that its generated client needs. */
const compile = (command: string, ...parameters: string[]) =>
  fetchAgain(`${command} with the libraries of a generated client`, () =>
    runInstaller(command, parameters, { GOFLAGS: '-mod=mod' }, directory),
  );
/** Runs the command of the guide that makes the client, in `client/`. */
const generate = async (name: string) => {
  await mkdir(join(directory, 'client'), { recursive: true });
  await run('sh', await guide.write(name, directory));
};
const savedReport = () => readFile(join(directory, 'report.csv'), 'utf8');

describe('the clients of docs/generated-clients.md', () => {
  it('are all generated here', () => {
    expect(guide.names).toEqual([
      ...['generate-python.sh', 'pull_generated.py', 'generate-go.sh', 'pull-generated.go'],
      ...['generate-oapi-codegen.sh', 'pull-oapi-codegen.go', 'generate-java.sh', 'PullGenerated.java'],
      ...['generate-typescript.sh', 'pull-generated.ts', 'generate-csharp.sh', 'PullGenerated.cs'],
      ...['generate-openapi-python-client.sh', 'pull_openapi_python_client.py'],
      ...['generate-openapi-typescript.sh', 'pull-openapi-fetch.ts', 'generate-postman.sh'],
    ]);
  });

  it.runIf(generator && python)('openapi-generator for Python pulls the report', async () => {
    await generate('generate-python.sh');
    await run(python as string, '-m', 'compileall', '-q', 'client');
    const program = await guide.write('pull_generated.py', join(directory, 'client'));
    await run(python as string, program);
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(generator && goTools)('openapi-generator for Go pulls the report', async () => {
    await generate('generate-go.sh');
    const module = 'github.com/GIT_USER_ID/GIT_REPO_ID';
    await writeFile(
      join(directory, 'go.mod'),
      `module example.com/pull\n\ngo 1.23\n\nrequire ${module} v0.0.0\n\nreplace ${module} => ./client\n`,
    );
    await rm(join(directory, 'client', 'test'), { recursive: true, force: true });
    await compile('go', 'build', '-o', 'pull', await guide.write('pull-generated.go', directory));
    await run('./pull');
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(goTools && hasCurl)('oapi-codegen pulls the report', async () => {
    await generate('generate-oapi-codegen.sh');
    await writeFile(join(directory, 'go.mod'), 'module example.com/pull\n\ngo 1.24\n');
    const program = await guide.write('pull-oapi-codegen.go', directory);
    await compile('go', 'mod', 'tidy');
    await compile('go', 'build', '-o', 'pull', program);
    await run('./pull');
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(generator)('openapi-generator for Java pulls the report', async () => {
    await generate('generate-java.sh');
    const pom = join(directory, 'client', 'pom.xml');
    const maven = (...goals: string[]) => compile('mvn', '-q', '-B', '-f', pom, ...goals);
    const classPath = join(directory, 'class-path');
    await maven('compile');
    await maven(
      'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath',
      `-Dmdep.outputFile=${classPath}`,
    );
    const classes = join(directory, 'client', 'target', 'classes');
    const path = [classes, (await readFile(classPath, 'utf8')).trim()].join(delimiter);
    await run('java', '-cp', path, await guide.write('PullGenerated.java', directory));
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(generator)('openapi-generator for TypeScript pulls the report', async () => {
    await generate('generate-typescript.sh');
    await symlink(join(npmTools, 'node_modules'), join(directory, 'node_modules'));
    const program = await guide.write('pull-generated.ts', directory);
    await run('tsc', '--strict', '--target', 'es2022', '--module', 'commonjs', '--types', 'node', program);
    await run(process.execPath, program.replace(/ts$/, 'js'));
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(generator)('openapi-generator makes a client for C#', async () => {
    await generate('generate-csharp.sh');
    const project = join(directory, 'client', 'src', 'Org.OpenAPITools', 'Org.OpenAPITools.csproj');
    expect(await readFile(project, 'utf8')).toContain('<Project Sdk="Microsoft.NET.Sdk">');
    if (!hasDotnet) return;
    await run('dotnet', 'new', 'console', '-o', 'pull');
    await run('dotnet', 'add', 'pull', 'reference', project);
    const program = await readFile(await guide.write('PullGenerated.cs', directory), 'utf8');
    await writeFile(join(directory, 'pull', 'Program.cs'), program);
    await compile('dotnet', 'build', 'pull');
    await run('dotnet', 'run', '--project', 'pull');
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(pythonTools)('openapi-python-client pulls the report', async () => {
    await rm(join(directory, 'client'), { recursive: true, force: true });
    await run('sh', await guide.write('generate-openapi-python-client.sh', directory));
    const interpreter = join(pythonTools as string, 'python');
    await run(interpreter, '-m', 'compileall', '-q', 'client');
    await run(interpreter, await guide.write('pull_openapi_python_client.py', join(directory, 'client')));
    expect(await savedReport()).toBe(expected);
  });

  it('openapi-typescript and openapi-fetch pull the report', async () => {
    await symlink(join(npmTools, 'node_modules'), join(directory, 'node_modules'));
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await generate('generate-openapi-typescript.sh');
    const program = await guide.write('pull-openapi-fetch.ts', directory);
    const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    await run('tsc', ...strict, '--allowImportingTsExtensions', '--skipLibCheck', program);
    await run(process.execPath, program);
    expect(await savedReport()).toBe(expected);
  });

  it.runIf(hasCurl)('openapi-to-postmanv2 makes a collection whose first request gets a report', async () => {
    await generate('generate-postman.sh');
    const requests = await firstRequest(join(directory, 'collection.json'));
    await writeFile(join(directory, 'first.json'), JSON.stringify(requests));
    await run(
      ...(['newman', 'run', 'first.json', '--env-var', `bearerToken=${started.token}`] as const),
      ...['--reporters', 'json', '--reporter-json-export', 'ran.json'],
    );
    const ran = JSON.parse(await readFile(join(directory, 'ran.json'), 'utf8'));
    const { code, stream } = ran.run.executions[0].response;
    const body = Buffer.from(stream.data).toString();
    expect(code, body).toBe(200);
    expect(body.split('\n')[0]).toBe('"Day","ServedAds","Opens","Clicks","Revenue"');
  });
});

interface Item {
  readonly request?: object;
  readonly item?: readonly Item[];
}

/** The collection with nothing in it but its first request. */
async function firstRequest(file: string): Promise<object> {
  const collection = JSON.parse(await readFile(file, 'utf8')) as Item;
  const [first] = requestsOf(collection);
  return { ...collection, item: [first] };
}

const requestsOf = (item: Item): Item[] =>
  item.request ? [item] : (item.item ?? []).flatMap((child) => requestsOf(child));

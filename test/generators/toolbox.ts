import { join } from 'node:path';
import { pythonWith } from '../clients/python.ts';
import { isHere, npmInstall, runInstaller } from '../clients/run-program.ts';
import { toolCache } from '../tool-cache.ts';

const OPENAPI_GENERATOR = '7.25.0';
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const NPM = [
  ...['openapi-fetch@0.17.0', 'openapi-to-postmanv2@6.3.3', 'newman@6.2.2'],
  ...['openapi-typescript@7.13.0', 'typescript@5.9.3', '@types/node@24.19.2'],
];
const PIP = ['openapi-python-client==0.29.1', 'ruff==0.17.6'];

/** The jar of openapi-generator, fetched with Maven. */
export async function openApiGenerator(): Promise<string | undefined> {
  if (!(await isHere('java', '-version')) || !(await isHere('mvn', '-version'))) return undefined;
  const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
  const home = await toolCache('openapi-generator', [artifact], (directory) =>
    runInstaller('mvn', [
      ...['-q', '-B', 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'],
      ...[`-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`],
    ]),
  );
  return join(home, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`);
}

/** The directory that holds oapi-codegen, installed with Go. */
export async function oapiCodegen(): Promise<string | undefined> {
  if (!(await isHere('go', 'version'))) return undefined;
  return toolCache('oapi-codegen', [OAPI_CODEGEN], (directory) =>
    runInstaller('go', ['install', OAPI_CODEGEN], { GOBIN: directory }),
  );
}

/** The directory that holds openapi-python-client and its formatter, installed with pip. */
export async function openApiPythonClient(): Promise<string | undefined> {
  const python = await pythonWith('openapi-python-client', PIP);
  return python && join(python, '..');
}

/** A directory whose `node_modules` has the npm generators and a TypeScript version that works with them. */
export const npmGenerators = (): Promise<string> =>
  toolCache('npm-generators', NPM, (directory) => npmInstall(directory, NPM));

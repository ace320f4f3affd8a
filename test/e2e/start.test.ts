import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { accessToken } from '../../local/access-token.ts';
import { spawnNode } from '../spawn-node.ts';
import { type EventRow, writeEvents } from '../write-events.ts';
import { expectedReport } from './expected-report.ts';
import { knownEvents } from './known-events.ts';

const events = knownEvents(3, 100);
let home: string;
let eventsDirectory: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'performance-reports-start-'));
  eventsDirectory = join(home, 'events');
  for (const [table, rows] of Object.entries(events))
    await writeEvents(eventsDirectory, table, rows as unknown as EventRow[]);
});
afterAll(() => rm(home, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exitCode: Promise<number | null>;
}

/** Starts the service as `npm start` does, with a state directory of this test file. */
function run(env: Record<string, string>, ...args: string[]): Run {
  const child = spawnNode(['local/start.ts', ...args], {
    env: { ...process.env, LOCAL_DIR: join(home, 'state'), PORT: '0', ...env },
  });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  return { child, output: () => output, exitCode: once(child, 'close').then(([code]) => code) };
}

const failure = async (env: Record<string, string>, ...args: string[]) => {
  const { exitCode, output } = run(env, ...args);
  return { code: await exitCode, output: output() };
};

describe('npm start', () => {
  it('serves the user’s events, prints a curl command that works, writes stack.json, and leaves nothing behind', async () => {
    const { child, output, exitCode } = run({ EVENTS_DIR: eventsDirectory });
    // It ends in the line to paste.
    await expect.poll(output, { timeout: 60_000 }).toMatch(/\ncurl .*\n\s*$/);
    expect(output()).toMatch(/^The page, .*: http:\/\/127\.0\.0\.1:\d+\/$/m);
    const curl = /^curl .*$/m.exec(output())?.[0] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', curl]);
    expect(stdout).toBe(
      expectedReport('publisherperformance', events.publisher_events, {
        fields: ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
        start: '2026-01-26T00:00:00Z',
        end: '2026-02-02T00:00:00Z',
      }),
    );

    const logged = () => (output().match(/^{.*}$/gm) ?? []).map((line) => JSON.parse(line));
    // The last line may come after the answer.
    await expect.poll(() => logged().map(({ message }) => message)).toEqual(['download', 'request']);
    // No line may hold a presigned URL or a token.
    expect(output()).not.toMatch(/X-Amz-|eyJ/);

    const stackFile = join(home, 'state', 'stack.json');
    const stack = JSON.parse(await readFile(stackFile, 'utf8'));
    // It holds secrets, and the run's folder holds reports.
    for (const path of ['stack.json', `run-${stack.run}`])
      expect((await stat(join(home, 'state', path))).mode & 0o077).toBe(0);
    for (const url of [stack.apiUrl, stack.tokenUrl, stack.storageUrl, stack.athenaUrl, stack.faultsUrl])
      expect(['127.0.0.1', '127.0.0.2', '[::1]']).toContain(new URL(url).hostname);
    // As on AWS, S3 has another host than the gateway: a client that drops a header for another host drops it here too.
    expect(new URL(stack.storageUrl).hostname).not.toBe(new URL(stack.apiUrl).hostname);

    child.kill('SIGINT');
    expect(await exitCode).toBe(0);
    await expect(stat(stackFile)).rejects.toThrow('ENOENT');
    expect(await readdir(join(home, 'state'))).toEqual([]);
  });

  it.each<[string, (state: string) => Promise<ChildProcess>]>([
    [
      'its output is closed',
      async (state) => {
        const { child } = run({ EVENTS_DIR: eventsDirectory, LOCAL_DIR: state });
        child.stdout?.destroy();
        child.stderr?.destroy();
        return child;
      },
    ],
    [
      'the disk under its log is full',
      async (state) => {
        const full = await open('/dev/full', 'w');
        onTestFinished(() => full.close());
        const env = { ...process.env, EVENTS_DIR: eventsDirectory, LOCAL_DIR: state, PORT: '0' };
        return spawn(process.execPath, ['local/start.ts'], { env, stdio: ['ignore', full.fd, full.fd] });
      },
    ],
  ])(
    'serves on if %s, and leaves nothing behind',
    async (name, startIn) => {
      const state = join(home, name.replaceAll(' ', '-'));
      const child = await startIn(state);
      onTestFinished(() => void child.kill('SIGKILL'));
      const exitCode = once(child, 'exit').then(([code]) => code);
      const read = async () => JSON.parse(await readFile(join(state, 'stack.json'), 'utf8'));
      await expect.poll(() => read().catch(() => undefined), { timeout: 60_000 }).toBeDefined();
      const stack = await read();
      for (let requests = 0; requests < 5; requests++) {
        const answer = await fetch(`${stack.apiUrl}/reporting/publisherperformance`, {
          headers: { Authorization: `Bearer ${await accessToken(stack)}` },
        });
        expect(answer.status).toBe(400);
      }
      child.kill('SIGINT');
      expect(await exitCode).toBe(0);
      expect(await readdir(state)).toEqual([]);
    },
    90_000,
  );

  it('ends with a message if the folder of its run is gone', async () => {
    const state = join(home, 'robbed');
    const { output, exitCode } = run({ EVENTS_DIR: eventsDirectory, LOCAL_DIR: state });
    await expect.poll(output, { timeout: 60_000 }).toContain('Ctrl-C');
    const { run: id } = JSON.parse(await readFile(join(state, 'stack.json'), 'utf8'));
    await rm(join(state, `run-${id}`), { recursive: true });
    expect(await exitCode).toBe(1);
    expect(output()).toMatch(/run-\w+ is gone, and the service can't go on\. Start it again\.\n$/);
    expect(await readdir(state)).toEqual([]);
  }, 90_000);

  it('does not change a running stack when a second stack starts or fails to start', async () => {
    const state = join(home, 'beside');
    const env = { EVENTS_DIR: eventsDirectory, LOCAL_DIR: state };
    const first = run(env);
    await expect.poll(first.output, { timeout: 60_000 }).toContain('Ctrl-C');
    const firstFile = await readFile(join(state, 'stack.json'), 'utf8');
    const { port } = new URL(JSON.parse(firstFile).apiUrl);
    const second = run(env);
    expect(await failure({ ...env, PORT: port })).toEqual({
      code: 1,
      output: `Port ${port} is busy: this service runs there already, as process ${first.child.pid}. Set PORT to another one; PORT=0 takes a free one.\n`,
    });
    expect(await readFile(join(state, 'stack.json'), 'utf8')).toBe(firstFile);

    await expect.poll(second.output, { timeout: 60_000 }).toContain('Ctrl-C');
    const curlOf = ({ output }: Run) => /^curl .*$/m.exec(output())?.[0] ?? '';
    const headOf = async (curl: string) =>
      (await promisify(execFile)('sh', ['-c', curl])).stdout.split('\n')[0];
    expect(await Promise.all([curlOf(first), curlOf(second)].map(headOf))).toEqual(
      Array(2).fill('"Day","ServedAds","Opens","Clicks","Revenue"'),
    );
    expect(curlOf(second)).toMatch(/PORT='\d+' npm run --silent token/);

    second.child.kill('SIGINT');
    expect(await second.exitCode).toBe(0);
    expect(await readFile(join(state, 'stack.json'), 'utf8')).toBe(firstFile);
    first.child.kill('SIGINT');
    expect(await first.exitCode).toBe(0);
    expect(await readdir(state)).toEqual([]);
  }, 60_000);

  it.each<[string, () => Promise<Record<string, string>>, RegExp]>([
    [
      'a PARTNERS file that is not there',
      async () => ({ PARTNERS: join(home, 'none.json') }),
      /^PARTNERS: .*\.json can't be used: .* See docs\/local\.md, "Partners"\.\n$/,
    ],
    [
      'a PORT that is none',
      async () => ({ PORT: '65536' }),
      /^PORT is "65536"\. Set it to a number from 0 to /,
    ],
    [
      'an EVENTS_DIR that is not there',
      async () => ({ EVENTS_DIR: join(home, 'nowhere') }),
      /^EVENTS_DIR: .*nowhere does not exist; needed: a folder with publisher_events\/day=.*\n$/,
    ],
    [
      'an EVENTS_DIR without tables',
      async () => ({ EVENTS_DIR: await mkdtemp(join(home, 'empty-')) }),
      /^EVENTS_DIR: .*publisher_events\/.*none of these is here: there are no files; .*lake -- init .*\n$/,
    ],
  ])('refuses, with a message of one line, %s', async (_, make, expected) => {
    const { code, output } = await failure({ EVENTS_DIR: eventsDirectory, ...(await make()) });
    expect(output).toMatch(expected);
    expect(output.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('refuses arguments, and says where settings go', async () => {
    const { code, output } = await failure({}, '--port', '4711');
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^npm start takes no arguments, such as "--port"\. .*\n$/),
    ]);
  });
});

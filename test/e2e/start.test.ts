import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { accessToken } from '../../local/access-token.ts';
import { runStart } from '../clients/npm-start.ts';
import { ownFolder } from '../own-folder.ts';
import { writeTables } from '../write-events.ts';
import { expectedReport } from './expected-report.ts';
import { knownEvents } from './known-events.ts';

const events = knownEvents(3, 100);
const home = await ownFolder();
const EVENTS_DIR = join(home, 'events');
await writeTables(EVENTS_DIR, events);

/** Starts the service as `npm start` does, by default on this file's events and with a state directory of this file. */
const run = (env: Record<string, string>, ...args: string[]) =>
  runStart({ EVENTS_DIR, LOCAL_DIR: join(home, 'state'), ...env }, args);

/** Runs the curl command that the service has printed. */
const runCurl = async (output: string) => {
  const curl = /^curl .*$/m.exec(output)?.[0] ?? '';
  return { curl, csv: (await promisify(execFile)('sh', ['-c', curl])).stdout };
};
const stackIn = async (state: string) => JSON.parse(await readFile(join(state, 'stack.json'), 'utf8'));

async function failure(env: Record<string, string>, ...args: string[]) {
  const { exitCode, output } = run(env, ...args);
  return { code: await exitCode, output: output() };
}

describe('npm start', () => {
  it('serves the user’s events, prints a curl command that works, writes stack.json, and leaves nothing behind', async () => {
    const { child, output, exitCode } = run({});
    // It ends in the line to paste.
    await expect.poll(output).toMatch(/\ncurl .*\n\s*$/);
    expect(output()).toMatch(/^The page, .*: http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect((await runCurl(output())).csv).toBe(
      expectedReport('publisherperformance', events.publisher_events, {
        fields: ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
        ...{ start: '2026-01-26T00:00:00Z', end: '2026-02-02T00:00:00Z' },
      }),
    );

    const logged = () => (output().match(/^{.*}$/gm) ?? []).map((line) => JSON.parse(line));
    // The last line may come after the answer.
    await expect.poll(() => logged().map(({ message }) => message)).toEqual(['download', 'request']);
    // No line may hold a presigned URL or a token.
    expect(output()).not.toMatch(/X-Amz-|eyJ/);

    const stack = await stackIn(join(home, 'state'));
    for (const url of [stack.apiUrl, stack.tokenUrl, stack.storageUrl, stack.athenaUrl, stack.faultsUrl])
      expect(['127.0.0.1', '127.0.0.2', '[::1]']).toContain(new URL(url).hostname);
    // As on AWS, S3 has another host than the gateway: a client that drops a header for another host drops it here too.
    expect(new URL(stack.storageUrl).hostname).not.toBe(new URL(stack.apiUrl).hostname);

    child.kill('SIGINT');
    expect(await exitCode).toBe(0);
    expect(await readdir(join(home, 'state'))).toEqual([]);
  });

  it.each<[string, (env: Record<string, string>) => Promise<ChildProcess>]>([
    [
      'its output is closed',
      async (env) => {
        const { child } = run(env);
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
        return child;
      },
    ],
    [
      'the disk under its log is full',
      async (env) => {
        const full = await open('/dev/full', 'w');
        onTestFinished(() => full.close());
        const stdio = ['ignore' as const, full.fd, full.fd];
        return spawn(process.execPath, ['local/start.ts'], { env: { ...process.env, ...env }, stdio });
      },
    ],
  ])('serves on if %s, and leaves nothing behind', async (name, startWith) => {
    const state = join(home, name.replaceAll(' ', '-'));
    const child = await startWith({ EVENTS_DIR, LOCAL_DIR: state, PORT: '0' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await expect.poll(() => stackIn(state).catch(() => undefined)).toBeDefined();
    const stack = await stackIn(state);
    for (let requests = 0; requests < 5; requests++) {
      const headers = { Authorization: `Bearer ${await accessToken(stack)}` };
      expect((await fetch(`${stack.apiUrl}/reporting/publisherperformance`, { headers })).status).toBe(400);
    }
    child.kill('SIGINT');
    expect((await exited)[0]).toBe(0);
    expect(await readdir(state)).toEqual([]);
  });

  it('ends with a message if the folder of its run is gone', async () => {
    const state = join(home, 'robbed');
    const { output, exitCode } = run({ LOCAL_DIR: state });
    await expect.poll(output).toContain('Ctrl-C');
    await rm(join(state, `run-${(await stackIn(state)).run}`), { recursive: true });
    expect(await exitCode).toBe(1);
    expect(output()).toMatch(/run-\w+ is gone, and the service can't go on\. Start it again\.\n$/);
    expect(await readdir(state)).toEqual([]);
  });

  it('does not change a running stack when a second stack starts or fails to start', async () => {
    const env = { LOCAL_DIR: join(home, 'beside') };
    const first = run(env);
    await expect.poll(first.output).toContain('Ctrl-C');
    const stack = await stackIn(env.LOCAL_DIR);
    const { port } = new URL(stack.apiUrl);
    const second = run(env);
    expect(await failure({ ...env, PORT: port })).toEqual({
      code: 1,
      output: `Port ${port} is busy: this service runs there already, as process ${first.child.pid}. Set PORT to another one; PORT=0 takes a free one.\n`,
    });
    expect(await stackIn(env.LOCAL_DIR)).toEqual(stack);

    await expect.poll(second.output).toContain('Ctrl-C');
    const curls = await Promise.all([first, second].map(({ output }) => runCurl(output())));
    for (const { csv } of curls)
      expect(csv.split('\n')[0]).toBe('"Day","ServedAds","Opens","Clicks","Revenue"');
    expect(curls[1]?.curl).toMatch(/PORT='\d+' npm run --silent token/);

    second.child.kill('SIGINT');
    expect(await second.exitCode).toBe(0);
    expect(await stackIn(env.LOCAL_DIR)).toEqual(stack);
    first.child.kill('SIGINT');
    expect(await first.exitCode).toBe(0);
    expect(await readdir(env.LOCAL_DIR)).toEqual([]);
  });

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
  ])('refuses, with a message of one line, %s', async (_, make, expected) => {
    const { code, output } = await failure(await make());
    expect(output).toMatch(expected);
    expect(output.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('refuses arguments, and says where settings go', async () => {
    const output = expect.stringMatching(/^npm start takes no arguments, such as "--port"\. .*\n$/);
    expect(await failure({}, '--port', '4711')).toEqual({ code: 1, output });
  });
});

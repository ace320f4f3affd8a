import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { beginRun, folderOf, type Owner, thisProcess } from '../../local/run-folder.ts';
import { removeLeftovers, runningStack, writeStackFile } from '../../local/stack-file.ts';
import { ownFolder } from '../own-folder.ts';
import { stackFacts } from './stack-facts.ts';

const folders = await ownFolder();
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(folders, 'stacks-'));
});

const [ONE, TWO] = ['1'.repeat(16), '2'.repeat(16)] as const;
/** The file of a stack at this port. Its run is one of this process, unless `owner` says otherwise. */
const write = (port: number, owner = thisProcess(ONE)) =>
  writeStackFile(home, { ...stackFacts, apiUrl: `http://127.0.0.1:${port}` }, owner);
const at = (port: number) => ({ ...stackFacts, ...thisProcess(ONE), apiUrl: `http://127.0.0.1:${port}` });
const killed = (): number => spawnSync(process.execPath, ['--version']).pid;
/** A run whose process has this process's number, in another container or before a restart of this one. */
const elsewhere: Owner = { ...thisProcess(TWO), place: 'elsewhere' };
const before: Owner = { ...thisProcess(TWO), started: '1' };

async function folder(owner: Owner, secondsAgo = 0): Promise<void> {
  const path = folderOf(home, owner.run);
  await mkdir(path);
  await writeFile(join(path, 'owner.json'), JSON.stringify(owner));
  const then = new Date(Date.now() - secondsAgo * 1_000);
  await utimes(join(path, 'owner.json'), then, then);
}

describe('the file of a stack', () => {
  it('is stack.json for the first stack, and another file for a second stack', async () => {
    const first = await write(8080);
    const before = await readFile(first.path, 'utf8');
    const second = await write(8081);
    expect(first).toEqual({ path: join(home, 'stack.json'), port: undefined });
    expect(second).toEqual({ path: join(home, 'stack-8081.json'), port: '8081' });
    expect(await readFile(first.path, 'utf8')).toBe(before);
  });

  it('is found by its port; without a port, that of the first stack that still runs is found', async () => {
    await write(8080);
    await write(8081);
    for (const port of [undefined, '0', '8080']) expect(await runningStack(home, port)).toEqual(at(8080));
    expect(await runningStack(home, '8081')).toEqual(at(8081));
    expect(await runningStack(home, '8082')).toBeUndefined();
    await rm(join(home, 'stack.json'));
    expect(await runningStack(home)).toEqual(at(8081));
  });

  it('can be read by its owner alone, also if a file of an ended stack could be read by all', async () => {
    await writeFile(join(home, 'stack-8080.json'), '{', { mode: 0o644 });
    for (const { path } of [await write(8080), await write(8080), await write(8080, thisProcess(TWO))])
      expect((await stat(path)).mode & 0o777).toBe(path.endsWith('stack-8080.json') ? 0o644 : 0o600);
  });

  it('of a killed process is ignored, and is deleted with the folder of its run', async () => {
    const dead = { ...thisProcess(TWO), pid: killed() };
    await write(8080, dead);
    await write(8081);
    for (const owner of [dead, thisProcess(ONE)]) await folder(owner);
    await mkdir(join(home, 'events'));
    expect(await runningStack(home)).toEqual(at(8081));
    await removeLeftovers(home);
    expect((await readdir(home)).sort()).toEqual(['events', `run-${ONE}`, 'stack-8081.json']);
    expect(await write(8080)).toMatchObject({ port: undefined });
  });

  it.each([elsewhere, { ...elsewhere, pid: killed() }])('of another container stays', async (elsewhere) => {
    await write(8080, elsewhere);
    await folder(elsewhere, 60);
    await removeLeftovers(home);
    expect((await readdir(home)).sort()).toEqual([`run-${TWO}`, 'stack.json']);
    // Its address leads nowhere from here.
    expect(await runningStack(home)).toBeUndefined();
    // A third container has the same port too.
    const both = await Promise.all([write(8080), write(8080, { ...elsewhere, run: ONE })]);
    expect(new Set(both.map(({ path }) => path)).size).toBe(2);
    expect((await readdir(home)).filter((name) => name.startsWith('stack-'))).toHaveLength(2);
  });

  it.each<[string, Owner, number]>([
    ['in another container that was last seen three minutes ago', elsewhere, 180],
    ['of this container before its restart', before, 0],
  ])('is deleted with the folder of its run, if it is a run %s', async (_, owner, secondsAgo) => {
    await write(8080, owner);
    await folder(owner, secondsAgo);
    expect(await runningStack(home)).toBeUndefined();
    await removeLeftovers(home);
    expect(await readdir(home)).toEqual([]);
  });

  it('is not found if no stack was ever started', async () => {
    expect(await runningStack(join(home, 'nowhere'))).toBeUndefined();
    await removeLeftovers(join(home, 'nowhere'));
  });
});

describe('a run', () => {
  it('has a folder of its own, which it touches while it goes on', async () => {
    const lost = vi.fn();
    const [one, other] = [await beginRun(home, lost, 10), await beginRun(home, lost, 10)];
    expect(new Set([one.folder, other.folder]).size).toBe(2);
    expect((await stat(one.folder)).mode & 0o077).toBe(0);
    const file = join(one.folder, 'owner.json');
    await utimes(file, 1, 1);
    await expect.poll(async () => (await stat(file)).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
    await Promise.all([one.close(), other.close()]);
    expect(await readdir(home)).toEqual([]);
    expect(lost).not.toHaveBeenCalled();
  });

  it.each<[string, (folder: string) => Promise<void>]>([
    ['is gone', (folder) => rm(folder, { recursive: true })],
    ['belongs to another run', (folder) => writeFile(join(folder, 'owner.json'), JSON.stringify(elsewhere))],
  ])('notices that its folder %s', async (_, harm) => {
    const lost = vi.fn();
    const run = await beginRun(home, lost, 10);
    onTestFinished(() => run.close());
    await harm(run.folder);
    await expect.poll(() => lost.mock.calls.length).toBe(1);
  });
});

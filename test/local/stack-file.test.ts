import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeLeftovers, runningStack, writeStackFile } from '../../local/stack-file.ts';
import { stackFacts } from './stack-facts.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'performance-reports-stacks-'));
  return () => rm(home, { recursive: true, force: true });
});

const at = (port: number, pid = process.pid) => ({ ...stackFacts, apiUrl: `http://127.0.0.1:${port}`, pid });
const killed = (): number => spawnSync(process.execPath, ['--version']).pid;

describe('the file of a stack', () => {
  it('is stack.json for the first stack, and another file for a second stack', async () => {
    const first = await writeStackFile(home, at(8080));
    const before = await readFile(first.path, 'utf8');
    const second = await writeStackFile(home, at(8081));
    expect(first).toEqual({ path: join(home, 'stack.json'), port: undefined });
    expect(second).toEqual({ path: join(home, 'stack-8081.json'), port: '8081' });
    expect(await readFile(first.path, 'utf8')).toBe(before);
  });

  it('is found by its port; without a port, the file of the first stack is found', async () => {
    await writeStackFile(home, at(8080));
    await writeStackFile(home, at(8081));
    expect(await runningStack(home)).toEqual(at(8080));
    expect(await runningStack(home, '0')).toEqual(at(8080));
    expect(await runningStack(home, '8080')).toEqual(at(8080));
    expect(await runningStack(home, '8081')).toEqual(at(8081));
    expect(await runningStack(home, '8082')).toBeUndefined();
  });

  it('of a second stack is found without a port after the first stack has ended', async () => {
    const { path } = await writeStackFile(home, at(8080));
    await writeStackFile(home, at(8081));
    await rm(path);
    expect(await runningStack(home)).toEqual(at(8081));
  });

  it('of a killed process is ignored, and is deleted with the stack’s directory', async () => {
    const pid = killed();
    await writeStackFile(home, at(8080, pid));
    await writeStackFile(home, at(8081));
    await mkdir(join(home, `run-${pid}`));
    await mkdir(join(home, `run-${process.pid}`));
    await mkdir(join(home, 'events'));
    expect(await runningStack(home)).toEqual(at(8081));
    await removeLeftovers(home);
    expect((await readdir(home)).sort()).toEqual(['events', `run-${process.pid}`, 'stack-8081.json']);
    expect(await writeStackFile(home, at(8080))).toMatchObject({ port: undefined });
  });

  it('is not found if no stack was ever started', async () => {
    expect(await runningStack(join(home, 'nowhere'))).toBeUndefined();
    await removeLeftovers(join(home, 'nowhere'));
  });
});

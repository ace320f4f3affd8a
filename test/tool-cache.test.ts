import { access, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { toolCache } from './tool-cache.ts';

const PAUSES_MS = [0, 0];

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tool-cache-'));
  vi.stubEnv('XDG_CACHE_HOME', home);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  return async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await rm(home, { recursive: true });
  };
});

const inCache = () => readdir(join(home, 'performance-reports'));
const toolIn = (directory: string) => readFile(join(directory, 'tool'), 'utf8');
/** An installer that writes the file `tool`. Its first `failures` tries fail after half of their work. */
const installer = (failures = 0, text = 'complete') =>
  vi.fn(async (directory: string) => {
    expect(await readdir(directory)).toEqual([]);
    await writeFile(join(directory, 'tool'), 'half');
    if (failures-- > 0) throw new Error('Command failed: pip\nWARNING: slow\nERROR: no such host\n\n');
    await writeFile(join(directory, 'tool'), text);
  });
const install = (make: (directory: string) => Promise<unknown>, pins = ['tool==1']) =>
  toolCache('tool', pins, make, PAUSES_MS);

describe('toolCache', () => {
  it('installs a tool only once for the same pins', async () => {
    const make = installer();
    const directory = await install(make);
    expect(await toolIn(directory)).toBe('complete');
    expect(await install(make)).toBe(directory);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('rejects with the last line of the installer’s output after the third failure, and leaves no directory', async () => {
    const make = installer(3);
    await expect(install(make)).rejects.toThrow("tool can't be downloaded in 3 tries: ERROR: no such host");
    expect(make).toHaveBeenCalledTimes(3);
    expect(await inCache()).toEqual([]);
  });

  it('installs again if a killed process left an incomplete directory, and removes it after a day', async () => {
    const abandoned: string[] = [];
    const killed = (directory: string) => {
      abandoned.push(directory);
      return new Promise(() => {});
    };
    void install(killed);
    void install(killed);
    await vi.waitFor(() => expect(abandoned).toHaveLength(2), { timeout: 60_000 });
    const [old = '', recent = ''] = abandoned;
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
    await utimes(old, twoDaysAgo, twoDaysAgo);
    expect(await toolIn(await install(installer()))).toBe('complete');
    await expect(access(old)).rejects.toThrow('ENOENT');
    await access(recent);
  });

  it('ends with one complete directory if two processes install at the same time', async () => {
    const bothStarted = Promise.withResolvers<void>();
    let started = 0;
    const make = async (directory: string) => {
      if (++started === 2) bothStarted.resolve();
      await bothStarted.promise;
      await installer()(directory);
    };
    const [first, second] = await Promise.all([install(make), install(make)]);
    expect(first).toBe(second);
    expect(started).toBe(2);
    expect(await toolIn(first)).toBe('complete');
    expect(await inCache()).toHaveLength(2);
  });
});

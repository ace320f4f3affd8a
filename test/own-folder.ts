import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach } from 'vitest';

/** A new folder for all tests of a file, removed after the last. */
export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'performance-reports-test-'));
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A new folder for each test of a file, removed after it. Returns a function that tells its path. */
export function folderOfEach(): () => string {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'performance-reports-test-'));
    return () => rm(folder, { recursive: true, force: true });
  });
  return () => folder;
}

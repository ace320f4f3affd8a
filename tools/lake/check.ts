import { join } from 'node:path';
import { utcDay } from '../../lib/report/utc-time.ts';
import { isHarmless } from '../../local/lake/finding.ts';
import { folderSource } from '../../local/lake/folder-source.ts';
import { readLake } from '../../local/lake/read-lake.ts';
import { judge } from '../../local/lake/rules.ts';
import { isBucket } from './bucket.ts';
import { bucketSource } from './bucket-source.ts';
import { openWorkspace } from './open-duckdb.ts';
import { showProgress } from './progress.ts';
import { type CheckOptions, renderCheck } from './render-check.ts';

/** Reads a lake and lists what is wrong with it. Resolves to the text, and to whether reports will be right. */
export async function check(
  location: string,
  { footersOnly, all }: CheckOptions,
): Promise<{ readonly text: string; readonly isRight: boolean }> {
  await using workspace = await openWorkspace();
  const source = isBucket(location)
    ? bucketSource(location, join(workspace.directory, 'copies'))
    : folderSource(location);
  const lake = await readLake(workspace.connection, source, {
    depth: footersOnly ? 'footers' : 'records',
    today: utcDay(Date.now()),
    onProgress: showProgress(),
  });
  const findings = judge(lake);
  return { text: renderCheck(lake, findings, { all, footersOnly }), isRight: findings.every(isHarmless) };
}

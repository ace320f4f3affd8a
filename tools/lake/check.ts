import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isHarmless } from '../../lake-check/finding.ts';
import { folderSource } from '../../lake-check/lake-source.ts';
import { readLake } from '../../lake-check/read-lake.ts';
import { judge } from '../../lake-check/rules.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { repeatedProgress, showProgress } from '../../lib/terminal/progress.ts';
import type { LakeCommand } from './lake-command.ts';
import { type CheckOptions, renderCheck } from './render-check.ts';
import { isBucket } from './store/bucket.ts';
import { bucketSource } from './store/bucket-source.ts';
import { openWorkspace } from './workspace/open-duckdb.ts';

const usage = `npm run lake -- check <folder | s3://bucket/prefix> [--footers] [--all]
  Lists everything that is wrong with a lake, the worst first. Exit 0 where reports will be right.
  --footers  read no records, only what the files' footers tell
  --all      name every file of a finding
`;

/** `npm run lake -- check`. The exit code is 1 if reports will be wrong or fail. */
export const checkCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { values, positionals } = parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        footers: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
      },
    });
    const [location, ...others] = positionals;
    if (!location || others.length > 0) throw new OperatorFault(usage);
    const { text, isRight } = await check(location, { footersOnly: values.footers, all: values.all });
    say(text);
    return isRight ? 0 : 1;
  },
};

/** Reads a lake and lists what is wrong with it. Resolves to the text, and to whether reports will be right. */
async function check(
  location: string,
  { footersOnly, all }: CheckOptions,
): Promise<{ readonly text: string; readonly isRight: boolean }> {
  using told = repeatedProgress(showProgress(process.stderr));
  await using workspace = await openWorkspace();
  // DuckDB's file cache costs a fifth of the CPU time. It would not help, because a check reads nothing twice.
  await workspace.connection.run('SET enable_external_file_cache = false');
  const source = isBucket(location)
    ? bucketSource(location, join(workspace.directory, 'copies'))
    : folderSource(location);
  const lake = await readLake(workspace.connection, source, {
    depth: footersOnly ? 'footers' : 'records',
    today: utcDay(Date.now()),
    onProgress: told.onProgress,
  });
  const findings = judge(lake);
  return { text: renderCheck(lake, findings, { all, footersOnly }), isRight: findings.every(isHarmless) };
}

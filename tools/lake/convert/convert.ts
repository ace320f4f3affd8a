import { join } from 'node:path';
import { tables } from '../../../lib/report/tables.ts';
import { utcDay } from '../../../lib/report/utc-time.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { showProgress } from '../../../lib/terminal/progress.ts';
import { openInputs } from '../input/input-files.ts';
import { refuseOwnFiles } from '../input/refuse-own-files.ts';
import { isBucket } from '../store/bucket.ts';
import { lakeTarget } from '../store/open-target.ts';
import type { ValueOptions } from '../values/convert-value.ts';
import { openWorkspace } from '../workspace/open-duckdb.ts';
import { conversionFault } from './conversion-fault.ts';
import { followProgress } from './conversion-progress.ts';
import { renderOutcome } from './outcome.ts';
import { missingColumns, planAll, readAll } from './plan-all.ts';
import { refusal } from './refusal.ts';
import { refuseWrittenDays } from './refuse-written-days.ts';
import { sqlOf } from './show-sql.ts';
import { stageAll } from './stage-all.ts';
import { type Written, writeDays } from './write-days.ts';

export interface ConvertOptions extends ValueOptions {
  readonly inputs: readonly string[];
  readonly to: string;
  readonly hourly: boolean;
  /** Whether days that hold files may be written again. */
  readonly replace: boolean;
  /** Whether all days stay open. */
  readonly open: boolean;
  /** Whether to print the SQL that runs. */
  readonly showSql: boolean;
  /** Bytes that the process may use. */
  readonly memory?: number;
  readonly table?: string;
}

/**
 * Converts files into days of a lake and prints the outcome. If the files can't be converted, it throws an
 * OperatorFault that lists every reason, and writes nothing.
 */
export async function convert(options: ConvertOptions, say: (text: string) => void): Promise<void> {
  const { to, memory } = options;
  await using workspace = await openWorkspace({
    ...(!isBucket(to) && { beside: to }),
    ...(memory && { memory }),
  });
  const { connection, directory } = workspace;
  const { files, faults: unread } = await openInputs(connection, options.inputs, join(directory, 'copies'));
  const { plans, faults } = planAll(files, options);
  const against = [...unread, ...faults];
  if (against.length > 0) throw refusal([...against, ...(await readAll(connection, plans)).losses]);

  using progress = followProgress(connection, files, showProgress(process.stderr));
  const { staged, changes } = await stageAll(workspace, plans, progress).catch((error: Error) => {
    throw conversionFault(error, { to, daysWritten: 0, days: 0 });
  });
  if (staged.length === 0)
    throw new OperatorFault(
      `Nothing was written: there is no record in ${files.map(({ name }) => name).join(', ')}.`,
    );

  refuseOwnFiles(files, staged, options);
  const target = lakeTarget(to);
  await refuseWrittenDays(target, staged, options);
  if (options.showSql) say(sqlOf(workspace, plans, staged, options.hourly));
  const today = utcDay(Date.now());
  const isOpen = (day: string) => options.open || day >= today;
  const written = await writeDays(
    workspace,
    staged,
    target,
    { to, hourly: options.hourly, markerOf: (day) => (isOpen(day) ? undefined : '') },
    progress,
  );
  progress.end();
  const there = await target.tables();
  say(
    renderOutcome({
      to,
      tables: staged.map((one, index) => ({
        ...(written[index] as Written),
        staged: one,
        openDays: one.days.filter(({ day }) => isOpen(day)).length,
      })),
      changes: [...missingColumns(plans), ...changes],
      missing: tables.map(({ name }) => name).filter((name) => !there.has(name)),
    }),
  );
}

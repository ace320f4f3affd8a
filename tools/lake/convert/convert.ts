import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { utcDay } from '../../../lib/report/utc-time.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { showProgress } from '../../../lib/terminal/progress.ts';
import { FLAG, parseOptions, TEXT } from '../../parse-options.ts';
import { daySelect, writeDay } from '../day-file.ts';
import { separatorOf } from '../input/csv-file.ts';
import { openInputs } from '../input/input-files.ts';
import { columnChanges, missingMetrics, planFiles } from '../input/plan-input.ts';
import { type LakeCommand, oneOf, TABLES } from '../lake-command.ts';
import { memoryOption, openWorkspace, type Workspace } from '../open-duckdb.ts';
import { lakeTarget } from '../store/bucket-lake.ts';
import { daysIn, type LakeTarget, tablesIn } from '../store/lake-target.ts';
import { valueOptions } from '../values/convert-value.ts';
import { UNITS } from '../values/exact-instant.ts';
import { type ConversionProgress, followProgress } from './conversion-progress.ts';
import { renderOutcome, type WrittenTable } from './outcome.ts';
import { conversionFault, refusal, refuseOwnFiles } from './refusal.ts';
import { refuseOtherCounts, removeStaged, type Staged, stageAll, stagedSource } from './stage.ts';

const usage = `npm run lake -- convert <files, folders or s3://…> --to <folder | s3://bucket/prefix> [--hourly] [--replace] [--open]
                [--table <name>] [--time-zone <zone>] [--ambiguous earlier|later] [--time-unit <unit>] [--round]
                [--separator <name>] [--without <metric>]… [--same-bytes-twice] [--memory <size>]
  Makes days of a lake from CSV or Parquet files, exactly or not at all.
  --hourly     sum each hour's records of equal dimensions
  --replace    write days again that have files already: they hold only the converted records then
  --open       mark no day as final; today never is
  --table      publisher_events or advertiser_events, where the columns don't tell
  --time-zone  the zone of times without an offset, for example Europe/Berlin; without it they are UTC
  --ambiguous  earlier or later: which instant is meant where clocks go back and a local time comes twice
  --time-unit  what numbers in event_time count since 1970: ${UNITS.join(', ')}
  --round      round amounts to six digits after the point, half away from zero, and tell by how much
  --separator  comma, semicolon, tab or pipe, where the first line of a CSV file does not tell
  --without    a metric that the files need not have: it counts 0
  --same-bytes-twice  read files that hold the same bytes, each of them
  --memory     how much memory this may use, like 2GB; otherwise half of the machine's
`;

/** `npm run lake -- convert`. */
export const convertCommand: LakeCommand = {
  usage,
  async run(args, say) {
    say(await convert(readOptions(args)));
    return 0;
  },
};

/** What the operator says. Throws an OperatorFault about what can't be meant. */
function readOptions(args: readonly string[]) {
  const { values, positionals: inputs } = parseOptions(args, {
    ...{ hourly: FLAG, replace: FLAG, open: FLAG, round: FLAG, 'same-bytes-twice': FLAG },
    ...{ to: TEXT, table: TEXT, separator: TEXT, memory: TEXT },
    ...{ 'time-zone': TEXT, ambiguous: TEXT, 'time-unit': TEXT },
    without: { ...TEXT, multiple: true, default: [] },
  });
  const { to, hourly, replace, open, round } = values;
  if (inputs.length === 0 || !to) throw new OperatorFault(usage);
  const metrics = [...new Set(reports.flatMap(measureColumns))];
  const without = values.without.flatMap((text) => text.split(','));
  return {
    ...{ inputs, to, hourly, replace, open, round, ...valueOptions(values) },
    table: oneOf('--table', values.table, TABLES),
    without: without.map((name) => oneOf('--without', name, metrics) ?? ''),
    separator: separatorOf(values.separator),
    sameBytesTwice: values['same-bytes-twice'],
    memory: memoryOption(values.memory),
  };
}

/**
 * Converts files into days of a lake. Resolves to the outcome in words. If the files can't be converted, it throws an
 * OperatorFault that lists every reason, and writes nothing.
 */
async function convert(options: ReturnType<typeof readOptions>): Promise<string> {
  const { inputs, to, hourly, memory } = options;
  await using workspace = await openWorkspace(to, memory);
  const { connection, directory } = workspace;
  const { files, faults: unread, once } = await openInputs(inputs, join(directory, 'copies'), options);
  refuseOwnFiles(files, to);
  const { plans, faults } = planFiles(files, options);
  using progress = followProgress(connection, files, showProgress(process.stderr));
  const { staged, losses, changes } = await stageAll(workspace, plans, progress).catch((error: Error) => {
    throw conversionFault(error, { to, daysWritten: 0, days: 0 });
  });
  const against = [...unread, ...faults, ...missingMetrics(plans, options.without), ...losses];
  if (against.length > 0) throw refusal(against);
  refuseOtherCounts(staged, plans);
  const names = files.map(({ name }) => name).join(', ');
  if (staged.length === 0)
    throw new OperatorFault(`Nothing was written: no record is in ${names}. Name files that have records.`);
  const target = lakeTarget(to);
  await refuseWrittenDays(target, staged, options);
  const today = utcDay(Date.now());
  const isOpen = (day: string) => options.open || day >= today;
  const written = await writeDays(workspace, staged, target, { to, hourly, isOpen }, progress);
  progress.end();
  const there = await tablesIn(target);
  const missing = TABLES.filter((name) => !there.has(name));
  const changed = [...once, ...columnChanges(plans), ...changes];
  return renderOutcome(to, written, changed, missing);
}

const SHOWN = 5;

/**
 * Throws an OperatorFault if a day that is to be written holds files already, unless `replace` is set. The listing
 * repairs what a command that was killed has left half replaced.
 */
async function refuseWrittenDays(
  target: LakeTarget,
  staged: readonly Staged[],
  { replace, to }: { readonly replace: boolean; readonly to: string },
): Promise<void> {
  const written: string[] = [];
  for (const { table, days } of staged) {
    const there = daysIn(await target.list(table.name), table.name).filter(({ files }) => files.length > 0);
    const names = new Set(there.map(({ day }) => day));
    written.push(...days.filter(({ day }) => names.has(day)).map(({ day }) => `${table.name} ${day}`));
  }
  if (written.length === 0 || replace) return;
  const more = written.length > SHOWN ? ` and ${written.length - SHOWN} more` : '';
  throw new OperatorFault(
    `Nothing was written: ${to} holds files of these days: ${written.slice(0, SHOWN).join(', ')}${more}. ` +
      'Say --replace if the converted files hold all that the days should hold.',
  );
}

/**
 * Writes the staged days into the lake, one after the other. Resolves to what was written of each table. A fault says
 * how many days were written before it. An open day gets no `_SUCCESS` marker.
 */
async function writeDays(
  workspace: Workspace,
  staged: readonly Staged[],
  target: LakeTarget,
  { to, hourly, isOpen }: { to: string; hourly: boolean; isOpen: (day: string) => boolean },
  progress: ConversionProgress,
): Promise<WrittenTable[]> {
  const { connection } = workspace;
  const directory = join(workspace.directory, 'day');
  const days = staged.flatMap((one) => one.days.map((day) => ({ ...one, ...day })));
  const allRows = days.reduce((sum, { rows }) => sum + rows, 0);
  let rowsDone = 0;
  const written = new Map<string, number>();
  for (const [daysWritten, { table, report, day, rows }] of days.entries()) {
    progress.writeFrom(rowsDone / allRows, rows / allRows);
    try {
      const select = daySelect(table, report, stagedSource(workspace, table, day), hourly);
      const source = { select, rows, day: `${table.name} of ${day}` };
      const { files, records } = await writeDay(connection, source, directory);
      written.set(table.name, (written.get(table.name) ?? 0) + records);
      await target.replaceDay({ table: table.name, day, files, marker: isOpen(day) ? undefined : '' });
      await rm(directory, { recursive: true, force: true });
      await removeStaged(workspace, table, day);
    } catch (error) {
      throw conversionFault(error as Error, { to, daysWritten, days: days.length });
    }
    rowsDone += rows;
  }
  return staged.map((one) => ({
    staged: one,
    rows: written.get(one.table.name) ?? 0,
    openDays: one.days.filter(({ day }) => isOpen(day)).length,
  }));
}

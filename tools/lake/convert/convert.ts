import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { tables } from '../../../lib/report/tables.ts';
import { utcDay } from '../../../lib/report/utc-time.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { showProgress } from '../../../lib/terminal/progress.ts';
import { separatorOf } from '../input/csv-file.ts';
import { type InputOptions, openInputs } from '../input/input-files.ts';
import { missingColumns, missingMetrics, planAll, readAll, unreadColumns } from '../input/read-input.ts';
import type { LakeCommand } from '../lake-command.ts';
import { isBucket } from '../store/bucket.ts';
import { lakeTarget } from '../store/folder-target.ts';
import { type ValueOptions, valueOptions } from '../values/convert-value.ts';
import { TIME_UNITS } from '../values/time-text.ts';
import { memoryBytes, openWorkspace } from '../workspace/open-duckdb.ts';
import { followProgress } from './conversion-progress.ts';
import { renderOutcome } from './outcome.ts';
import { conversionFault, refusal, refuseOwnFiles, refuseWrittenDays } from './refusal.ts';
import { stageAll } from './stage.ts';
import { writeDays } from './write-days.ts';

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
  --time-unit  what numbers in event_time count since 1970: ${Object.keys(TIME_UNITS).join(', ')}
  --round      round amounts to six digits after the point, half away from zero, and tell by how much
  --separator  comma, semicolon, tab or pipe, where the first line of a CSV file does not tell
  --without    a metric that the files need not have: it counts 0
  --same-bytes-twice  read files that hold the same bytes, each of them
  --memory     how much memory this may use, like 2GB; otherwise half of the machine's
`;

/** `npm run lake -- convert`. Turns the arguments into the options of `convert`. */
export const convertCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { values, positionals } = parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        to: { type: 'string' },
        hourly: { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        open: { type: 'boolean', default: false },
        table: { type: 'string' },
        'time-zone': { type: 'string' },
        ambiguous: { type: 'string' },
        'time-unit': { type: 'string' },
        round: { type: 'boolean', default: false },
        separator: { type: 'string' },
        without: { type: 'string', multiple: true, default: [] },
        'same-bytes-twice': { type: 'boolean', default: false },
        memory: { type: 'string' },
      },
    });
    const { to, hourly, replace, open, table, separator } = values;
    if (positionals.length === 0 || !to) throw new OperatorFault(usage);
    const memory = values.memory === undefined ? undefined : memoryBytes(values.memory);
    const options = {
      ...{ inputs: positionals, to, hourly, replace, open },
      ...{ without: metricsOf(values.without), sameBytesTwice: values['same-bytes-twice'] },
      ...(separator !== undefined && { separator: separatorOf(separator) }),
    };
    await convert(
      { ...options, ...(table && { table }), ...valueOptions(values), ...(memory && { memory }) },
      say,
    );
    return 0;
  },
};

/** The columns of metrics that `--without` names. Throws an OperatorFault if one is no metric. */
function metricsOf(names: readonly string[]): string[] {
  const metrics = [...new Set(reports.flatMap(measureColumns))];
  return names
    .flatMap((text) => text.split(','))
    .map((name) => {
      if (metrics.includes(name)) return name;
      throw new OperatorFault(`--without is "${name}"; it can be ${metrics.join(', ')}`);
    });
}

interface ConvertOptions extends ValueOptions, InputOptions {
  readonly inputs: readonly string[];
  readonly to: string;
  readonly hourly: boolean;
  /** Whether days that hold files may be written again. */
  readonly replace: boolean;
  /** Whether all days stay open. */
  readonly open: boolean;
  /** The metrics that the files need not have. */
  readonly without: readonly string[];
  /** Bytes that the process may use. */
  readonly memory?: number;
  readonly table?: string;
}

/**
 * Converts files into days of a lake and prints the outcome. If the files can't be converted, it throws an
 * OperatorFault that lists every reason, and writes nothing.
 */
async function convert(options: ConvertOptions, say: (text: string) => void): Promise<void> {
  const { to, memory } = options;
  await using workspace = await openWorkspace({
    ...(!isBucket(to) && { beside: to }),
    ...(memory && { memory }),
  });
  const { connection, directory } = workspace;
  const {
    files,
    faults: unread,
    once,
  } = await openInputs(options.inputs, join(directory, 'copies'), options);
  refuseOwnFiles(files, to);
  const { plans, faults } = planAll(files, options);
  const against = [...unread, ...faults, ...missingMetrics(plans, options.without)];
  if (against.length > 0) throw refusal([...against, ...(await readAll(connection, plans)).losses]);

  using progress = followProgress(connection, files, showProgress(process.stderr));
  const { staged, changes } = await stageAll(workspace, plans, progress).catch((error: Error) => {
    throw conversionFault(error, { to, daysWritten: 0, days: 0 });
  });
  if (staged.length === 0)
    throw new OperatorFault(
      `Nothing was written: there is no record in ${files.map(({ name }) => name).join(', ')}.`,
    );

  const target = lakeTarget(to);
  await refuseWrittenDays(target, staged, options);
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
        rows: written[index] ?? 0,
        staged: one,
        openDays: one.days.filter(({ day }) => isOpen(day)).length,
      })),
      changes: [...once, ...unreadColumns(plans), ...missingColumns(plans), ...changes],
      missing: tables.map(({ name }) => name).filter((name) => !there.has(name)),
    }),
  );
}

import { join } from 'node:path';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { utcDay } from '../../../lib/report/utc-time.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { showProgress } from '../../../lib/terminal/progress.ts';
import { parseOptions } from '../../parse-options.ts';
import { separatorOf } from '../input/csv-file.ts';
import { type InputOptions, openInputs } from '../input/input-files.ts';
import type { PlanOptions } from '../input/plan-input.ts';
import { columnChanges, missingMetrics, planFiles } from '../input/plan-input.ts';
import { FLAG, type LakeCommand, oneOf, TABLES, TEXT, tableOption } from '../lake-command.ts';
import { memoryOption, openWorkspace } from '../open-duckdb.ts';
import { lakeTarget } from '../store/folder-target.ts';
import { tablesIn } from '../store/lake-target.ts';
import { valueOptions } from '../values/convert-value.ts';
import { UNITS } from '../values/time-text.ts';
import { followProgress } from './conversion-progress.ts';
import { renderOutcome } from './outcome.ts';
import { conversionFault, refusal, refuseOwnFiles } from './refusal.ts';
import { refuseOtherCounts, stageAll } from './stage.ts';
import { refuseWrittenDays, writeDays } from './write-days.ts';

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

/** `npm run lake -- convert`. Turns the arguments into the options of `convert`. */
export const convertCommand: LakeCommand = {
  usage,
  async run(args, say) {
    const { values, positionals } = parseOptions({
      args,
      allowPositionals: true,
      options: {
        ...{ hourly: FLAG, replace: FLAG, open: FLAG, round: FLAG, 'same-bytes-twice': FLAG },
        ...{ to: TEXT, table: TEXT, separator: TEXT, memory: TEXT },
        ...{ 'time-zone': TEXT, ambiguous: TEXT, 'time-unit': TEXT },
        without: { ...TEXT, multiple: true, default: [] },
      },
    });
    const { to, hourly, replace, open, table, separator } = values;
    if (positionals.length === 0 || !to) throw new OperatorFault(usage);
    const metrics = [...new Set(reports.flatMap(measureColumns))];
    const without = values.without.flatMap((text) => text.split(','));
    const outcome = await convert({
      ...{ inputs: positionals, to, hourly, replace, open, round: values.round, ...valueOptions(values) },
      table: tableOption(table),
      without: without.map((name) => oneOf('--without', name, metrics) ?? ''),
      separator: separatorOf(separator),
      sameBytesTwice: values['same-bytes-twice'],
      memory: memoryOption(values.memory),
    });
    say(outcome);
    return 0;
  },
};

interface ConvertOptions extends PlanOptions, InputOptions {
  readonly inputs: readonly string[];
  readonly to: string;
  readonly hourly: boolean;
  readonly replace: boolean;
  readonly open: boolean;
  readonly without: readonly string[];
  readonly memory: number | undefined;
}

/**
 * Converts files into days of a lake. Resolves to the outcome in words. If the files can't be converted, it throws an
 * OperatorFault that lists every reason, and writes nothing.
 */
async function convert(options: ConvertOptions): Promise<string> {
  const { inputs, to, hourly, memory } = options;
  await using workspace = await openWorkspace({ beside: to, memory });
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

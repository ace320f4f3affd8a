import { join, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { folderSource } from '../../../lake-check/lake-source.ts';
import { dayOf } from '../../../lake-check/layout.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { tableOf } from '../../../lib/report/tables.ts';
import { utcDay } from '../../../lib/report/utc-time.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { repeatedProgress, showProgress } from '../../../lib/terminal/progress.ts';
import type { LakeCommand } from '../lake-command.ts';
import { isBucket } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-lake.ts';
import { memoryBytes, openWorkspace } from '../workspace/open-duckdb.ts';
import { type DayOutcome, makeDay } from './hourly-day.ts';
import { hoursDaysIn, hoursLake, rawDaysIn } from './hourly-facts.ts';
import { type Asked, finalRule, planHours } from './hourly-plan.ts';

const usage = `npm run lake -- hourly --from <raw lake> --to <lake of hours> [--day <day | first..last>]… [--table <name>]
                [--again] [--replace] [--memory <size>]
  Keeps a lake of hours up to date: sums each day of the raw lake that is new, open or was restated. Run it by a schedule;
  it may be killed and repeated. In a bucket it may run twice at once; in a folder the second run ends with exit 2. Lakes
  are folders or s3://bucket/prefix. Exit 0 where all days are as they should be.
  --day      these days only, like 2026-01-31 or 2026-01-01..2026-01-31
  --table    publisher_events or advertiser_events only
  --again    sum days again that are up to date
  --replace  days that hold files of another writer, such as convert --hourly: remove these files
  --memory   how much memory this may use, like 2GB; otherwise half of the machine's
`;

interface HourlyOptions extends Asked {
  readonly from: string;
  readonly to: string;
  readonly isAsked: (day: string) => boolean;
  readonly table?: string;
  readonly memory?: number;
}

/** `npm run lake -- hourly`. The exit code is 1 if a day that should have been summed was not. */
export const hourlyCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { values, positionals } = parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        from: { type: 'string' },
        to: { type: 'string' },
        day: { type: 'string', multiple: true },
        table: { type: 'string' },
        again: { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        memory: { type: 'string' },
      },
    });
    const { from, to, day, table, again, replace, memory } = values;
    if (positionals.length > 0 || !from || !to) throw new OperatorFault(usage);
    if (table !== undefined && !reports.some((report) => report.table === table))
      throw new OperatorFault(
        `--table is ${table}; it can be ${reports.map((report) => report.table).join(' or ')}`,
      );
    refuseOneInTheOther(from, to);
    const outcomes = await makeHours({
      ...{ from, to, again, replace, isAsked: askedDays(day) },
      ...(table && { table }),
      ...(memory !== undefined && { memory: memoryBytes(memory) }),
    });
    const { text, isDone } = renderHours({ from, to, outcomes });
    say(text);
    return isDone ? 0 : 1;
  },
};

/** Returns a function that tells whether `--day` names a day. Throws an OperatorFault if `--day` is malformed. */
function askedDays(texts: readonly string[] | undefined): (day: string) => boolean {
  if (!texts) return () => true;
  const windows = texts.map((text) => {
    const [first = '', last = first, ...others] = text.split('..');
    if ([first, last].some((day) => dayOf(`day=${day}`) === undefined) || others.length > 0 || last < first)
      throw new OperatorFault(
        `--day is ${text}; write a day, 2026-01-31, or the first and the last, 2026-01-01..2026-01-31`,
      );
    return { first, last };
  });
  return (day) => windows.some(({ first, last }) => first <= day && day <= last);
}

function refuseOneInTheOther(from: string, to: string): void {
  const pathOf = (lake: string) => (isBucket(lake) ? lake.replace(/\/*$/, '/') : resolve(lake) + sep);
  const [raw, hours] = [pathOf(from), pathOf(to)];
  if (raw.startsWith(hours) || hours.startsWith(raw))
    throw new OperatorFault(
      `${from} and ${to}: one lies in the other. Keep the raw lake and the hours apart.`,
    );
}

/** Sums the days that have to be summed, one after the other. */
async function makeHours({
  from,
  to,
  isAsked,
  table: only,
  memory,
  ...asked
}: HourlyOptions): Promise<TableOutcome[]> {
  using told = repeatedProgress(showProgress(process.stderr));
  await using workspace = await openWorkspace({
    ...(!isBucket(to) && { beside: to }),
    ...(memory && { memory }),
  });
  // Files are replaced under the same name, so cached content could be out of date.
  await workspace.connection.run('SET enable_external_file_cache = false');
  const copies = join(workspace.directory, 'copies');
  const raw = isBucket(from) ? bucketSource(from, copies) : folderSource(from);
  const hours = hoursLake(to, copies);
  const today = utcDay(Date.now());
  const [rawListed, hoursListed] = [await raw.list(), await hours.list()];
  const noDay = (asked: string) =>
    new OperatorFault(
      `${from} holds no day${only ? ` of ${only}` : ''}${asked}. It has to be a lake, with folders like ${reports[0]?.table}/day=2026-01-31; npm run lake -- check ${from} tells more.`,
    );
  const wanted = reports.filter(({ table }) => only === undefined || table === only);
  // A lake without days is a fault: with an empty mount or a wrong prefix, all raw days would seem to be gone.
  if (wanted.every(({ table }) => rawDaysIn(rawListed, table).length === 0)) throw noDay('');
  const outcomes: TableOutcome[] = [];
  for (const report of wanted) {
    const table = tableOf(report);
    const columns = table.columns.map(({ name }) => name).join();
    const rawDays = rawDaysIn(rawListed, table.name);
    // If no raw day has a marker, all notes are read, because a note may show that the table has had markers.
    const isNoteWanted = rawDays.some(({ isMarked }) => isMarked) ? isAsked : () => true;
    const hoursDays = await hoursDaysIn(workspace.connection, hours, hoursListed, table.name, isNoteWanted);
    const planned = planHours(rawDays, hoursDays, { today, columns, isAsked, ...asked });
    const lakes = {
      workspace,
      raw,
      hours,
      table,
      report,
      isFinal: finalRule(rawDays, hoursDays, today),
      columns,
      ...asked,
    };
    const days: { day: string; outcome: DayOutcome }[] = [];
    for (const [index, { day }] of planned.entries()) {
      told.onProgress(`Summing ${table.name} by the hour`, index, planned.length);
      const ofDay = (known: { readonly day: string }) => known.day === day;
      const outcome = await makeDay(lakes, day, { raw: rawDays.find(ofDay), hours: hoursDays.find(ofDay) });
      days.push({ day, outcome });
    }
    outcomes.push({ table: table.name, days });
  }
  if (outcomes.every(({ days }) => days.length === 0)) throw noDay(' that was asked for');
  return outcomes;
}

/** The results for the days of a table. */
interface TableOutcome {
  readonly table: string;
  readonly days: readonly { readonly day: string; readonly outcome: DayOutcome }[];
}

type Day = TableOutcome['days'][number];

interface Hours {
  readonly from: string;
  readonly to: string;
  readonly outcomes: readonly TableOutcome[];
}

/** The last lines of a run, and whether every day is as it should be. */
function renderHours({ from, to, outcomes }: Hours): {
  readonly text: string;
  readonly isDone: boolean;
} {
  const days = outcomes.flatMap((table) => table.days);
  const isLeft = ({ outcome: { action } }: Day) => action === 'left' || action === 'refuse-other-files';
  const isDone = !days.some(isLeft);
  const isWritten = days.some(
    ({ outcome: { action } }) => action === 'write-final' || action === 'write-open',
  );
  const next = isDone
    ? isWritten
      ? `Next: npm run lake -- check ${to}`
      : 'Nothing was to be done.'
    : 'Not all is done. Mend what is named above, and run the same command again.';
  return { text: `${[...outcomes.flatMap((table) => linesOf(table, from)), next].join('\n')}\n`, isDone };
}

function linesOf({ table, days }: TableOutcome, from: string): string[] {
  if (days.length === 0) return [];
  const of = (...actions: readonly DayOutcome['action'][]) =>
    days.filter(({ outcome }) => actions.includes(outcome.action));
  const written = of('write-final', 'write-open');
  const sum = (what: 'records' | 'hours') =>
    written.reduce((total, { outcome }) => total + ('hours' in outcome ? outcome[what] : 0), 0);
  const same = of('final-as-it-is', 'open-as-it-is').length;
  const others = of('refuse-other-files');
  const [reopened, only] = [of('keep-whole'), of('keep-only-copy')];
  return [
    `${table}: ${[
      written.length > 0
        ? `${counted(written.length, 'day')} summed (${windowOf(written)}${openWords(of('write-open'))}): ${counted(sum('records'), 'record')}, by the hour ${counted(sum('hours'), 'record')}`
        : 'no day summed',
      ...(same > 0 ? [`${counted(same, 'day')} up to date`] : []),
    ].join('; ')}`,
    ...of('left').map(
      ({ day, outcome }) => `  NOT DONE: ${day}: ${'reason' in outcome ? outcome.reason : ''}`,
    ),
    ...(others.length > 0
      ? [
          `  NOT DONE: ${counted(others.length, 'day')} (${windowOf(others)}) with files of another writer. If the raw lake holds all that these days should hold, say --replace`,
        ]
      : []),
    ...(reopened.length > 0
      ? [
          `  ${counted(reopened.length, 'day')} (${windowOf(reopened)}) kept: being written again in ${from}, without _SUCCESS`,
        ]
      : []),
    ...(only.length > 0
      ? [`  ${counted(only.length, 'day')} (${windowOf(only)}) kept: no longer in ${from}`]
      : []),
  ];
}

function windowOf(days: readonly Day[]): string {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  return first === last ? `${first}` : `${first} to ${last}`;
}

const openWords = (open: readonly Day[]): string =>
  open.length > 0 ? `, ${open.length === 1 ? 'one' : open.length} open` : '';

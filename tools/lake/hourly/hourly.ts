import { join } from 'node:path';
import { dayOf } from '../../../lake-check/layout.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { tableOf } from '../../../lib/report/tables.ts';
import { utcDay } from '../../../lib/report/utc-time.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { repeatedProgress, showProgress } from '../../../lib/terminal/progress.ts';
import { FLAG, parseOptions, TEXT } from '../../parse-options.ts';
import { type LakeCommand, windowOf } from '../lake-command.ts';
import { memoryOption, openWorkspace } from '../open-duckdb.ts';
import { placeOf } from '../store/bucket.ts';
import { lakeSource } from '../store/bucket-lake.ts';
import { daysIn } from '../store/lake-target.ts';
import { type DayOutcome, makeDay } from './hourly-day.ts';
import { hoursDaysIn, hoursLake } from './hourly-facts.ts';
import { type Asked, finalRule } from './hourly-plan.ts';

const usage = `npm run lake -- hourly --from <raw lake> --to <lake of hours> [--day <day | first..last>]…
                [--again] [--replace] [--memory <size>]
  Keeps a lake of hours up to date: sums each day of the raw lake that is new, open or was restated. Run it by a schedule;
  it may be killed and repeated. In a bucket it may run twice at once; in a folder the second run ends with exit 2. Lakes
  are folders or s3://bucket/prefix. Exit 0 where all days are as they should be.
  --day      these days only, like 2026-01-31 or 2026-01-01..2026-01-31
  --again    sum days again that are up to date
  --replace  days that hold files of another writer, such as convert --hourly: remove these files
  --memory   how much memory this may use, like 2GB; otherwise half of the machine's
`;

/** `npm run lake -- hourly`. The exit code is 1 if a day that should have been summed was not. */
export const hourlyCommand: LakeCommand = {
  usage,
  async run(args, say) {
    const { values, positionals } = parseOptions(args, {
      ...{ from: TEXT, to: TEXT, memory: TEXT, again: FLAG, replace: FLAG },
      day: { ...TEXT, multiple: true },
    });
    const { from, to, day, memory } = values;
    if (positionals.length > 0 || !from || !to) throw new OperatorFault(usage);
    if (placeOf(from).startsWith(placeOf(to)) || placeOf(to).startsWith(placeOf(from)))
      throw new OperatorFault(
        `${from} and ${to}: one lies in the other. Keep the raw lake and the hours apart.`,
      );
    const outcomes = await makeHours({ from, to }, values, askedDays(day), memoryOption(memory));
    say(renderHours(outcomes, from, to));
    return outcomes.some(({ days }) => days.some(isLeft)) ? 1 : 0;
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

/** What became of a day, and of the days of a table. */
type Day = DayOutcome & { readonly day: string };
type TableOutcome = Readonly<{ table: string; days: readonly Day[] }>;

/** Sums the days that have to be summed, one after the other. */
async function makeHours(
  { from, to }: Readonly<Record<'from' | 'to', string>>,
  { again, replace }: Asked,
  isAsked: (day: string) => boolean,
  memory: number | undefined,
): Promise<TableOutcome[]> {
  using told = repeatedProgress(showProgress(process.stderr));
  await using workspace = await openWorkspace(to, memory);
  const copies = join(workspace.directory, 'copies');
  const raw = lakeSource(from, copies);
  const hours = hoursLake(to, copies);
  const today = utcDay(Date.now());
  const [rawListed, hoursListed] = [await raw.list(), await hours.list()];
  const noDay = (asked: string) =>
    new OperatorFault(
      `${from} holds no day${asked}. It has to be a lake, with folders like ${reports[0]?.table}/day=2026-01-31; npm run lake -- check ${from} tells more.`,
    );
  // A lake without days is a fault: with an empty mount or a wrong prefix, all raw days would seem to be gone.
  if (reports.every(({ table }) => daysIn(rawListed, table).length === 0)) throw noDay('');
  const outcomes: TableOutcome[] = [];
  for (const report of reports) {
    const table = tableOf(report);
    const rawDays = daysIn(rawListed, table.name);
    // If no raw day has a marker, all notes are read, because a note may show that the table has had markers.
    const isNoteWanted = rawDays.some(({ isMarked }) => isMarked) ? isAsked : () => true;
    const hoursDays = await hoursDaysIn(workspace.connection, hours, hoursListed, table.name, isNoteWanted);
    const isFinal = finalRule(rawDays, hoursDays, today);
    const names = new Set([...rawDays, ...hoursDays].map(({ day }) => day));
    const planned = [...names].filter(isAsked).sort();
    const days: Day[] = [];
    for (const [index, day] of planned.entries()) {
      told.onProgress(`Summing ${table.name} by the hour`, index, planned.length);
      const ofDay = (known: { readonly day: string }) => known.day === day;
      const listed = { raw: rawDays.find(ofDay), hours: hoursDays.find(ofDay) };
      const lakes = { workspace, raw, hours, table, report, isFinal, again, replace };
      days.push({ day, ...(await makeDay(lakes, day, listed)) });
    }
    outcomes.push({ table: table.name, days });
  }
  if (outcomes.every(({ days }) => days.length === 0)) throw noDay(' that was asked for');
  return outcomes;
}

/** Whether a day is not as it should be. */
const isLeft = ({ action }: Day): boolean => action === 'left' || action === 'refuse-other-files';

function renderHours(outcomes: readonly TableOutcome[], from: string, to: string): string {
  const days = outcomes.flatMap((table) => table.days);
  const next = days.some(isLeft)
    ? 'Not all is done. Mend what is named above, and sum again, from the lake that is right then.'
    : days.some(({ summed }) => summed)
      ? `Next: npm run lake -- check ${to}`
      : 'Nothing was to be done.';
  return `${[...outcomes.flatMap((table) => linesOf(table, from)), next].join('\n')}\n`;
}

const OTHER_FILES =
  'with files of another writer. If the raw lake holds all that these days should hold, say --replace';

function linesOf({ table, days }: TableOutcome, from: string): string[] {
  if (days.length === 0) return [];
  const of = (action: DayOutcome['action']) => days.filter((day) => day.action === action);
  const told = (action: DayOutcome['action'], says: string, lead = '') => {
    const some = of(action);
    return some.length > 0 ? [`  ${lead}${counted(some.length, 'day')} (${windowOf(some)}) ${says}`] : [];
  };
  const summed = days.filter((day) => day.summed);
  const sum = (what: 'records' | 'hours') =>
    summed.reduce((total, day) => total + (day.summed?.[what] ?? 0), 0);
  const [open, same] = [of('write-open').length, of('as-it-is').length];
  const openWords = open > 0 ? `, ${open === 1 ? 'one' : open} open` : '';
  const sums = `${counted(summed.length, 'day')} summed (${windowOf(summed)}${openWords}): ${counted(sum('records'), 'record')}, by the hour ${counted(sum('hours'), 'record')}`;
  return [
    `${table}: ${summed.length > 0 ? sums : 'no day summed'}${same > 0 ? `; ${counted(same, 'day')} up to date` : ''}`,
    ...of('left').map(({ day, reason }) => `  NOT DONE: ${day}: ${reason}`),
    ...told('refuse-other-files', OTHER_FILES, 'NOT DONE: '),
    ...told('keep-whole', `kept: being written again in ${from}, without _SUCCESS`),
    ...told('keep-only-copy', `kept: no longer in ${from}`),
  ];
}

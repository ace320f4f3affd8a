import { counted } from '../../../lib/terminal/counted.ts';
import type { DayOutcome } from './hourly-day.ts';

/** The results for the days of a table. */
export interface TableOutcome {
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
export function renderHours({ from, to, outcomes }: Hours): {
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

/** What all benchmarks share: goals and tables, statistics, and their size. */

/** A goal for a figure that users notice, the measured figure, and whether it meets the goal. */
interface Goal {
  readonly goal: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** What it would take to meet a goal that is missed. */
  readonly wouldTake: string | undefined;
}

export const goal = (what: string, measured: string, isMet: boolean, wouldTake?: string): Goal => ({
  goal: what,
  measured,
  isMet,
  wouldTake,
});

/** The findings of one benchmark. */
export interface Section {
  /** The heading of the section in `docs/benchmarks.md`, which says what was measured. */
  readonly title: string;
  /** The first row names the columns. */
  readonly table: readonly (readonly string[])[];
  readonly goals: readonly Goal[];
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A table in Markdown. */
export const renderTable = ([header = [], ...rows]: Section['table']): string =>
  [row(header), row(header.map(() => '---')), ...rows.map(row)].join('\n');

const verdict = ({ isMet, wouldTake }: Goal): string =>
  isMet ? 'met' : `**missed**${wouldTake ? `: ${wouldTake}` : ''}`;

/** A table in Markdown with one row for each goal of the sections. */
export const renderGoals = (sections: readonly Section[]): string =>
  renderTable([
    ['what', 'goal', 'measured', ''],
    ...sections.flatMap(({ title, goals }) =>
      goals.map((each) => [title, each.goal, each.measured, verdict(each)]),
    ),
  ]);

/** `BENCH_RECORDS=1000000 BENCH_ROUNDS=1 npm run bench -- <part>` tries a part quickly, on fewer records and rounds. */
const atMost = (name: string) => Number(process.env[name] ?? Number.POSITIVE_INFINITY);

export const recordsAtMost = (records: number): number => Math.min(records, atMost('BENCH_RECORDS'));
export const roundsAtMost = (rounds: number): number => Math.min(rounds, atMost('BENCH_ROUNDS'));

/** The value that `percent` percent of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** The median: the value in the middle, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/**
 * The median of the ratios `a / b` of all pairs. A long disturbance of the machine slows both halves of a pair, so
 * their ratio hardly changes. A short disturbance changes few ratios, so the median hardly changes.
 */
export const medianRatio = (a: readonly number[], b: readonly number[]): number =>
  median(a.map((value, index) => value / (b[index] ?? Number.NaN)));

/** A number with three significant digits, for tables. */
export const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));

export const times = (ratio: number): string => `${figure(ratio)}x`;

/** The CPU that this process has used, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

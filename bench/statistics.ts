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

export type Subject = () => unknown;

/** The least time of a measurement. It is long enough that errors of the clock and the scheduler don't matter. */
const LEAST_MS = 250;

/** The mean milliseconds of a run, over enough runs to fill `LEAST_MS`, after a garbage collection. */
async function meanMs(subject: Subject): Promise<number> {
  globalThis.gc?.();
  const from = performance.now();
  for (let runs = 1; ; runs++) {
    await subject();
    const ms = performance.now() - from;
    if (ms >= LEAST_MS) return ms / runs;
  }
}

/**
 * Measures every subject once per round, in turn, and gives the milliseconds of each. An additional first round warms
 * compilers and caches, and does not count.
 */
export async function inTurn<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  rounds: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(subjects) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round++)
    for (const name of names) {
      const ms = await meanMs(subjects[name]);
      if (round > 0) times[name].push(ms);
    }
  return times;
}

/** A number with three significant digits, for tables. */
export const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));

export const times = (ratio: number): string => `${figure(ratio)}x`;

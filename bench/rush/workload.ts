import { dice } from '../../test/worlds/random.ts';

/** One report that a partner's job pulls. */
export interface PlannedReport {
  readonly id: number;
  readonly partner: number;
  /** When the job requests the report, in milliseconds since the rush began. */
  readonly atMs: number;
  /** How long the engine takes for the report, in milliseconds. */
  readonly queryMs: number;
  /** The number of days in the report's window. */
  readonly days: number;
  /** The size of the engine's result. */
  readonly resultBytes: number;
}

export interface WorkloadShape {
  readonly partners: number;
  readonly reportsEach: number;
  /** Every partner's job begins within this time after the rush begins, in milliseconds. */
  readonly jobsWithinMs: number;
  /** A partner's job asks for all its reports within this time, in milliseconds. */
  readonly reportsWithinMs: number;
}

/**
 * Half of the queries take longer than this, as in docs/decisions/0030-the-first-answer-within-eight-seconds.md. Long
 * queries are more frequent in this workload than in that document.
 */
const MEDIAN_MS = 4_000;
const SIGMA = 1.2;
const LONGEST_MS = 240_000;
const SHORTEST_MS = 600;

/** The days of a report: one, seven or 32, with the shares that `docs/deploy.md` assumes for its costs. */
const daysOf = (draw: number): number => (draw < 0.8 ? 1 : draw < 0.95 ? 7 : 32);

/**
 * The size of a result. A result of 32 days is assumed to be large, so the publishing function publishes it. All other
 * results are published while the caller waits.
 */
const resultBytesOf = (days: number): number => (days === 32 ? 100_000_000 : SMALL_RESULT_BYTES);

/** A result of this size is small enough to be published while the caller waits. */
export const SMALL_RESULT_BYTES = 200_000;

/** Plans the jobs of many partners. The jobs begin soon after six o'clock. The same seed gives the same plan. */
export function planRush(
  { partners, reportsEach, jobsWithinMs, reportsWithinMs }: WorkloadShape,
  seed: number,
): PlannedReport[] {
  const draw = dice(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  const reports: PlannedReport[] = [];
  for (let partner = 0; partner < partners; partner++) {
    // Most jobs begin soon after six o'clock, because schedulers fire at the full minute.
    const beginsMs = jobsWithinMs * draw() ** 2;
    for (let index = 0; index < reportsEach; index++) {
      const atMs = beginsMs + reportsWithinMs * draw() ** 2;
      const queryMs = Math.min(Math.max(SHORTEST_MS, MEDIAN_MS * Math.exp(SIGMA * normal())), LONGEST_MS);
      const days = daysOf(draw());
      reports.push({
        id: reports.length + 1,
        ...{ partner, atMs, queryMs, days, resultBytes: resultBytesOf(days) },
      });
    }
  }
  return reports;
}

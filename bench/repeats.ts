import { strictEqual } from 'node:assert';
import { monthsBy, pathOf } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, median, medianRatio, times } from './statistics.ts';

/** Numbers of publisher and advertiser records. The first pair is what `npm start` serves. */
const SIZES = [
  [2_000_000, 2_000_000],
  [50_000_000, 1_000],
] as const;
const ROUNDS = roundsAtMost(20);

interface Repeats {
  readonly firstMs: readonly number[];
  readonly againMs: readonly number[];
  /** The most calls to S3 that a repeat needed. */
  readonly s3Calls: number;
  /** The most calls to Athena that a repeat needed. */
  readonly athenaCalls: number;
}

async function repeatsOn([publisherRecords, advertiserRecords]: (typeof SIZES)[number]): Promise<Repeats> {
  await using service = await openReportStack(await sampleEvents(publisherRecords, advertiserRecords));
  await service.warmUp();
  const msOf = async (path: string) => {
    const from = performance.now();
    const response = await service.get(path);
    await response.arrayBuffer();
    strictEqual(response.status, 303);
    return performance.now() - from;
  };
  const rounds = [];
  for (const question of monthsBy('Day', 'DeviceOrProxy').slice(0, ROUNDS)) {
    const path = pathOf(question);
    const firstMs = await msOf(path);
    service.stack.faults.set([{ on: 's3' }, { on: 'athena' }]);
    const againMs = await msOf(path);
    const [s3Calls = Number.NaN, athenaCalls = Number.NaN] = service.stack.faults
      .current()
      .map(({ matched }) => matched);
    service.stack.faults.set([]);
    rounds.push({ firstMs, againMs, s3Calls, athenaCalls });
  }
  return {
    firstMs: rounds.map(({ firstMs }) => firstMs),
    againMs: rounds.map(({ againMs }) => againMs),
    s3Calls: Math.max(...rounds.map(({ s3Calls }) => s3Calls)),
    athenaCalls: Math.max(...rounds.map(({ athenaCalls }) => athenaCalls)),
  };
}

const recordsOf = (index: number) => `${figure((SIZES[index]?.[0] ?? Number.NaN) / 1e6)} million`;

export async function measure(): Promise<Section> {
  const found: Repeats[] = [];
  for (const size of SIZES) found.push(await repeatsOn(size));
  const ratio = ({ firstMs, againMs }: Repeats) => medianRatio(firstMs, againMs);
  const s3Calls = Math.max(...found.map((repeats) => repeats.s3Calls));
  const athenaCalls = Math.max(...found.map((repeats) => repeats.athenaCalls));
  return {
    title: 'The same report again',
    method:
      'GET to 303 for a report of a month, two dimensions and four metrics that has not been asked for before, and ' +
      `for the same again; ${ROUNDS} pairs. The calls are those that reach S3 and Athena.`,
    table: [
      ['records', 'first, ms', 'again, ms', 'faster by', 'S3 calls', 'Athena calls'],
      ...found.map((repeats, index) => [
        recordsOf(index),
        figure(median(repeats.firstMs)),
        figure(median(repeats.againMs)),
        times(ratio(repeats)),
        String(repeats.s3Calls),
        String(repeats.athenaCalls),
      ]),
    ],
    reading:
      'A repeat takes what these calls of S3 take and the way there and back, however large the report. Twenty times that is ' +
      'more than the first takes where there are few records.',
    goals: [
      ...found.map((repeats, index) => ({
        goal: `at least 20x faster than the first, ${recordsOf(index)} records`,
        measured: times(ratio(repeats)),
        isMet: ratio(repeats) >= 20,
        wouldTake: 'more records: what a repeat takes does not depend on them',
      })),
      {
        goal: "two S3 calls (the listing and the job's record), no Athena call",
        measured: `${s3Calls} and ${athenaCalls}`,
        isMet: s3Calls <= 2 && athenaCalls === 0,
      },
    ],
  };
}

import { figure, goal, median, medianRatio, roundsAtMost, type Section, times } from './measuring.ts';
import { monthsBy } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';

/** Numbers of publisher and advertiser records. The first pair is what `npm start` serves. */
const SIZES = [
  [2_000_000, 2_000_000],
  [50_000_000, 1_000],
] as const;
const ROUNDS = roundsAtMost(20);

async function repeatsOn([publisherRecords, advertiserRecords]: (typeof SIZES)[number]) {
  await using service = await openReportStack(await sampleEvents(publisherRecords, advertiserRecords));
  await service.warmUp();
  const [firstMs, againMs, s3Calls, athenaCalls]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const question of monthsBy('Day', 'DeviceOrProxy').slice(0, ROUNDS)) {
    firstMs.push((await service.ask(question)).ms);
    service.stack.faults.set([{ on: 's3' }, { on: 'athena' }]);
    againMs.push((await service.ask(question)).ms);
    const [s3, athena] = service.stack.faults.current();
    s3Calls.push(s3?.matched ?? Number.NaN);
    athenaCalls.push(athena?.matched ?? Number.NaN);
    service.stack.faults.set([]);
  }
  return {
    records: `${figure(publisherRecords / 1e6)} million`,
    first: figure(median(firstMs)),
    again: figure(median(againMs)),
    ratio: medianRatio(firstMs, againMs),
    // The most calls that a repeat needed.
    s3Calls: Math.max(...s3Calls),
    athenaCalls: Math.max(...athenaCalls),
  };
}

export async function measure(): Promise<Section> {
  const found: Awaited<ReturnType<typeof repeatsOn>>[] = [];
  for (const size of SIZES) found.push(await repeatsOn(size));
  const s3Calls = Math.max(...found.map((repeats) => repeats.s3Calls));
  const athenaCalls = Math.max(...found.map((repeats) => repeats.athenaCalls));
  return {
    title: 'The same report again',
    table: [
      ['records', 'first, ms', 'again, ms', 'faster by', 'S3 calls', 'Athena calls'],
      ...found.map((repeats) => [
        ...[repeats.records, repeats.first, repeats.again, times(repeats.ratio)],
        ...[String(repeats.s3Calls), String(repeats.athenaCalls)],
      ]),
    ],
    goals: [
      ...found.map(({ records, ratio }) =>
        goal(
          `at least 20x faster than the first, ${records} records`,
          times(ratio),
          ratio >= 20,
          'more records: what a repeat takes does not depend on them',
        ),
      ),
      goal(
        "two S3 calls (the listing and the job's record), no Athena call",
        `${s3Calls} and ${athenaCalls}`,
        s3Calls <= 2 && athenaCalls === 0,
      ),
    ],
  };
}

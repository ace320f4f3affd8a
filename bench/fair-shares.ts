import { prod } from '../infra/stages.ts';
import { dice } from '../test/worlds/random.ts';
import { figure, goal, percentile, type Section } from './measuring.ts';
import { grownAccount } from './rush/quotas.ts';
import { SIX, simulate } from './rush/simulate.ts';
import { type PlannedReport, SMALL_RESULT_BYTES } from './rush/workload.ts';

const SEED = 6;
const OTHERS = 9;
const TIMES = 50;
const SLOTS = 20;
const QUERY_MS = 10_000;
/** Each of the first nine partners asks for a report this often, on average. */
const EVERY_MS = 20_000;
const LASTS_MS = 15 * 60_000;

/** Ten partners that ask at random moments. The tenth asks `timesTheOthers` times as often as each of the others. */
function planLoad(timesTheOthers: number): PlannedReport[] {
  const rates = [...Array.from({ length: OTHERS }, () => 1), timesTheOthers];
  const reports = rates.flatMap((rate, partner) => {
    const draw = dice(100 + partner);
    const moments: number[] = [];
    const pause = () => (rate > 0 ? (-Math.log(1 - draw()) * EVERY_MS) / rate : Number.POSITIVE_INFINITY);
    for (let atMs = pause(); atMs < LASTS_MS; atMs += pause()) moments.push(atMs);
    return moments.map((atMs) => ({
      partner,
      atMs,
      queryMs: QUERY_MS,
      days: 1,
      resultBytes: SMALL_RESULT_BYTES,
    }));
  });
  return reports.map((report, index) => ({ id: index + 1, ...report }));
}

/** How long the reports of the nine other partners wait until the engine runs them, in seconds. */
async function waits(timesTheOthers: number, underWayPerPartner: number): Promise<number[]> {
  const reports = planLoad(timesTheOthers);
  const account = grownAccount(prod);
  const { queries, pulled } = await simulate({
    reports,
    quotas: { ...account, athena: { ...account.athena, slots: SLOTS } },
    settings: { longestQuerySeconds: prod.reports.longestQuerySeconds, underWayPerPartner },
    seed: SEED,
    untilMs: 2 * LASTS_MS,
  });
  const startOf = new Map(queries.map(({ report, runsSince }) => [report, runsSince]));
  return pulled
    .filter(({ report }) => report.partner < OTHERS)
    .map(({ report: { id, atMs } }) => ((startOf.get(id) ?? Number.NaN) - SIX - atMs) / 1_000);
}

export async function measure(): Promise<Section> {
  const share = prod.queries.underWayPerPartner ?? 0;
  const settings = [
    { what: 'the nine alone', found: await waits(0, share) },
    { what: `with the tenth, at most ${share} queries of each partner`, found: await waits(TIMES, share) },
    { what: 'with the tenth, no bound', found: await waits(TIMES, 0) },
  ];
  const [alone, bounded] = settings.map(({ found }) => found) as [number[], number[]];
  // In both simulations the nine request the same reports at the same moments, so waits are compared report by report.
  const growth = Math.max(...bounded.map((wait, index) => wait - (alone[index] as number)));
  return {
    title: 'Fair shares',
    table: [
      ['', 'mean, s', 'p99, s', 'longest, s'],
      ...settings.map(({ what, found }) => [
        what,
        figure(found.reduce((sum, each) => sum + each, 0) / found.length),
        figure(percentile(found, 99)),
        figure(Math.max(...found)),
      ]),
    ],
    goals: [
      goal(
        `no report of the nine waits longer by more than one slot's time, ${QUERY_MS / 1_000} s`,
        `${figure(growth)} s`,
        growth <= QUERY_MS / 1_000,
      ),
    ],
  };
}

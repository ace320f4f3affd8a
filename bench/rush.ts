import type { MethodLimit } from '../infra/api/method-limits.ts';
import { LEAST_EXECUTIONS } from '../infra/stage.ts';
import { prod } from '../infra/stages.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { reportPath } from '../lib/routes.ts';
import { figure, goal, percentile, recordsAtMost, type Section, times } from './measuring.ts';
import { inOrderOfArrival, lowerBound } from './rush/lower-bound.ts';
import { grownAccount, newAccount, type Quotas } from './rush/quotas.ts';
import { type Outcome, simulate } from './rush/simulate.ts';
import { type PlannedReport, planRush } from './rush/workload.ts';

const SEED = 6;
const PARTNERS = recordsAtMost(1_000);
const REPORTS_EACH = 5;
const MINUTE_MS = 60_000;
/** Jobs that have no report after this time give up. */
const PATIENCE_MS = 60 * MINUTE_MS;
/** The goal: the rush takes at most this many times its lower bound. */
const MAX_RATIO = 1.3;

const settings = {
  longestQuerySeconds: prod.reports.longestQuerySeconds,
  underWayPerPartner: prod.queries.underWayPerPartner ?? 0,
};

const rushWithin = (reportsWithinMs: number) =>
  planRush({ partners: PARTNERS, reportsEach: REPORTS_EACH, jobsWithinMs: MINUTE_MS, reportsWithinMs }, SEED);

/** A report reads half of the bytes of each day. A day has 0.125 GB. Both are the assumptions of `docs/deploy.md`. */
const GIGABYTES_A_DAY = 0.125 / 2;

/** List prices of us-east-1 in US dollars, as in `docs/deploy.md`, "What a month costs". */
function dollars({ pulled, queries, lambda, calls, admitted, tokens }: Outcome) {
  const daysOf = new Map(pulled.map(({ report }) => [report.id, report.days]));
  const days = queries.reduce((sum, { report }) => sum + (daysOf.get(report) ?? 0), 0);
  const count = (name: string) => calls.get(name) ?? 0;
  const requests = pulled.reduce((sum, each) => sum + each.requests, 0);
  return {
    athena: (days * GIGABYTES_A_DAY * 5) / 1_000,
    lambda: lambda.gigabyteSeconds * 0.0000133334 + lambda.invocations * 0.2e-6,
    s3:
      (count('PutObject') + count('ListObjectsV2')) * 5e-6 +
      (count('GetObject') + count('HeadObject')) * 0.4e-6,
    gateway: admitted * 3.5e-6,
    firewall: requests * 0.6e-6,
    cognito: tokens * 2.25e-3,
  };
}

/** The figures of one rush. */
function figuresOf(reports: readonly PlannedReport[], { athena, methods }: Quotas, outcome: Outcome) {
  const { pulled, queries, calls, lambda, probe } = outcome;
  const demands = reports.map(({ atMs, queryMs }) => ({
    asked: atMs / 1_000,
    engineSeconds: queryMs / 1_000,
  }));
  const limit = methods.get(`${reportPath(publisherReport)}/GET`) as MethodLimit;
  const places = {
    slots: athena.slots,
    startsPerSecond: athena.start.perSecond,
    startsAtOnce: athena.start.burst,
    requestsPerSecond: limit.requestsPerSecond,
    requestsAtOnce: limit.burst,
  };
  const bound = lowerBound(demands, places);
  const delivered = pulled.flatMap(({ doneMs, report }) =>
    doneMs === undefined ? [] : [{ doneMs, beyondMs: doneMs - report.atMs - report.queryMs }],
  );
  const lastSeconds = Math.max(...delivered.map(({ doneMs }) => doneMs)) / 1_000;
  const ratio = lastSeconds / bound.seconds;
  if (delivered.length === reports.length && ratio < 1)
    throw new Error('it was quicker than can be: the bound or the simulation is wrong');
  const beyond = delivered.map(({ beyondMs }) => beyondMs / 1_000);
  const answers = (wanted: number) => pulled.reduce((sum, each) => sum + (each.answers.get(wanted) ?? 0), 0);
  const perQuery = (...names: string[]) =>
    names.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0) / queries.length;
  const cost = dollars(outcome);
  return {
    bound,
    queueSeconds: inOrderOfArrival(demands, places),
    ratio,
    lastSeconds,
    undelivered: reports.length - delivered.length,
    beyond: [percentile(beyond, 50), percentile(beyond, 95), Math.max(...beyond)],
    answered: { 429: answers(429), 503: answers(503) },
    dishonest: pulled.reduce((sum, each) => sum + each.dishonest, 0),
    mostRequests: Math.max(...pulled.map(({ requests }) => requests)),
    lambda,
    probe,
    starts: perQuery('StartQueryExecution'),
    asks: perQuery('GetQueryExecution'),
    s3: perQuery('HeadObject', 'GetObject', 'PutObject', 'ListObjectsV2'),
    cost,
    dollars: Object.values(cost).reduce((sum, each) => sum + each, 0),
  };
}

type Figures = ReturnType<typeof figuresOf>;

async function play(reports: readonly PlannedReport[], quotas: Quotas): Promise<Figures> {
  const outcome = await simulate({ reports, quotas, settings, seed: SEED, untilMs: PATIENCE_MS });
  return figuresOf(reports, quotas, outcome);
}

const ROWS: readonly (readonly [string, (figures: Figures) => string])[] = [
  ['last report, s after six', ({ lastSeconds }) => figure(lastSeconds)],
  ['lower bound, s', ({ bound }) => `${figure(bound.seconds)} (${bound.because})`],
  ['a perfect queue in order of arrival, s', ({ queueSeconds }) => figure(queueSeconds)],
  ['last report / lower bound', ({ ratio }) => times(ratio)],
  ['not delivered within an hour', ({ undelivered }) => figure(undelivered)],
  [
    'wait beyond the query, s: median, p95, longest',
    ({ beyond }) => beyond.map((each) => figure(each)).join(', '),
  ],
  ['answers 429', ({ answered }) => figure(answered[429])],
  ['answers 503', ({ answered }) => figure(answered[503])],
  ['5xx without `Retry-After`', ({ dishonest }) => figure(dishonest)],
  ['requests for one report, the most', ({ mostRequests }) => figure(mostRequests)],
  ['executions of Lambda at a time, the most', ({ lambda }) => figure(lambda.most)],
  ['reports of the probe that came, and that did not', ({ probe }) => `${probe.pulled}, ${probe.missed}`],
  ['cold starts', ({ lambda }) => figure(lambda.coldStarts)],
  ['calls of `StartQueryExecution` a query', ({ starts }) => figure(starts)],
  ['calls of `GetQueryExecution` a query', ({ asks }) => figure(asks)],
  ['calls of S3 a query', ({ s3 }) => figure(s3)],
  [
    'dollars (Athena, Lambda)',
    ({ dollars: sum, cost }) => `${sum.toFixed(2)} (${cost.athena.toFixed(2)}, ${cost.lambda.toFixed(2)})`,
  ],
];

export async function measure(): Promise<Section> {
  const grown = grownAccount(prod);
  const reports = rushWithin(9 * MINUTE_MS);
  const rush = await play(reports, grown);
  const again = await play(reports, grown);
  const atOnce = await play(rushWithin(0), grown);
  const fresh = await play(reports, newAccount({ ...prod, executions: LEAST_EXECUTIONS }));
  const isSame = JSON.stringify(rush) === JSON.stringify(again);
  return {
    title: 'The rush at six',
    table: [
      ['', 'the rush', 'every report in the first minute', 'the rush, on 10 executions of Lambda'],
      ...ROWS.map(([name, text]) => [name, ...[rush, atOnce, fresh].map(text)]),
    ],
    goals: [
      goal(
        `everything delivered, within ${MAX_RATIO} times the lower bound`,
        `${figure(rush.undelivered)} not delivered, ${times(rush.ratio)}`,
        rush.undelivered === 0 && rush.ratio <= MAX_RATIO,
      ),
      goal(
        'no 5xx that does not say when to come again',
        figure(rush.dishonest + atOnce.dishonest),
        rush.dishonest + atOnce.dishonest === 0,
      ),
      goal('the same run twice gives the same figures', isSame ? 'they are' : 'they differ', isSame),
    ],
  };
}

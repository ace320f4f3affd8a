/** `npm run smoke -- <stage>`: proves that a deployed stage delivers. It pulls reports, and changes nothing. */
import { randomInt } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { PROBE } from '../infra/api/probe.ts';
import { secretReader } from '../lib/aws/release-calls.ts';
import { PROBE_ENV } from '../lib/names.ts';
import { type ProbeParts, serviceProbe } from '../lib/probe/pull-report.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { API_VERSIONS } from '../lib/report/parse-request.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import { daysPath, downloadPath, reportPath } from '../lib/routes.ts';
import { OperatorFault, reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { stageEnvironment } from './explain/service-environment.ts';
import { parseOptions, TEXT, wordsOf } from './parse-options.ts';
import { readStageOutputs } from './stage-stacks.ts';

const USAGE = 'npm run smoke -- <stage> [--client <client id>, and its secret in the standard input]';

/** The last two are for a stage whose own addresses lead nowhere, as in an emulator. */
const OPTIONS = { client: TEXT, url: TEXT, 'token-url': TEXT };

/** Filters that a firewall may take for attacks, though honest callers send them. The last query has over 2,048 bytes. */
const SUSPICIOUS = [
  ["an apostrophe, in brackets' values", "&filter[DeviceOrProxy]=O'Brien"],
  ['angle brackets', '&filter[DeviceOrProxy]=%3Cb%3E'],
  ['a URL with an IP address', '&filter[DeviceOrProxy]=http://203.0.113.9/x.log'],
  ['a long query', Array.from({ length: 120 }, (_, id) => `&filter[PlacementId]=${9_000_000 + id}`).join('')],
] as const;

/** The longest time that the gateway takes for an answer. */
const LONGEST_ANSWER_MS = 30_000;

/** What is tried, and how: resolves to what was seen, or throws an Error that says what is wrong. */
type Step = readonly [what: string, act: () => Promise<string>];

/**
 * Asks a deployed stage for everything that partners ask for, as the probe's client or as another partner. Prints a line
 * for each step. Throws an OperatorFault if one fails; the other steps are tried all the same.
 */
async function smokeCommand(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [stage] = wordsOf(positionals, USAGE);
  const { apiUrl, tokenUrl, scope } = await readStageOutputs(stage);
  const steps = smokeSteps({
    scope: scope as SmokeParts['scope'],
    serviceUrl: values.url ?? apiUrl,
    tokenUrl: values['token-url'] ?? tokenUrl,
    ...(await clientOf(stage, values.client)),
  });
  let failures = 0;
  for (const [what, act] of steps) {
    const seen = await act().catch((error: unknown) => {
      failures += 1;
      return `FAILS: ${error instanceof Error ? reasonOf(error) : error}`;
    });
    say(`${what.padEnd(46)}  ${seen}`);
  }
  if (failures > 0)
    throw new OperatorFault(
      `${failures} of ${steps.length} steps fail. docs/runbook.md says what to do, by the problem that an answer names`,
    );
}

const reasonOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message;

/** Where the client's id and secret are: in the probe's secret, or in the command line and the standard input. */
async function clientOf(stage: string, clientId: string | undefined) {
  if (clientId !== undefined) {
    const clientSecret = (await text(process.stdin)).trim();
    return { clientSecretId: '', readSecret: async () => JSON.stringify({ clientId, clientSecret }) };
  }
  const { [PROBE_ENV.clientSecretId]: clientSecretId } = await stageEnvironment(stage, PROBE).catch(
    (error) => {
      if (!(error instanceof OperatorFault)) throw error;
      return {} as Record<string, string>;
    },
  );
  if (clientSecretId === undefined)
    throw new OperatorFault(`Stage ${stage} has no probe, so name the client of a partner:\n${USAGE}`);
  return { clientSecretId, readSecret: secretReader() };
}

export type SmokeParts = ProbeParts['config'] & Pick<ProbeParts, 'readSecret'>;

/** The steps, in the order in which a fault of one explains those of the next. */
export function smokeSteps({ readSecret, ...config }: SmokeParts): readonly Step[] {
  // A report that nobody has requested before proves queries and files. One from the cache proves neither.
  const parts = { config, fetch, readSecret, now: Date.now, secondsLate: randomInt(1, 86_000) };
  const { token, pull } = serviceProbe(parts);
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const signal = AbortSignal.timeout(LONGEST_ANSWER_MS);
    const answer = await fetch(`${config.serviceUrl}${path}`, { headers, redirect: 'manual', signal });
    return { status: answer.status, body: await answer.text() };
  };
  const withToken = async () => ({ Authorization: `Bearer ${await token()}` });
  const expected = ({ status, body }: { status: number; body: string }, wanted: number, part: string) => {
    if (status !== wanted || !body.includes(part))
      throw new Error(`answered ${status} ${body.slice(0, 200)}`);
    return `${status}`;
  };
  const [start, end] = [Date.now() - 86_400_000, Date.now()].map((time) => `${utcDay(time)}T00:00:00Z`);
  const window = `startInclusive=${start}&endExclusive=${end}&api-version=${API_VERSIONS.at(-1)}`;
  const report = `${reportPath(publisherReport)}?requestedFields=Day,Opens&${window}`;
  return [
    ['a token', async () => ((await token()) ? 'given' : 'none')],
    ['a report of yesterday, by a new query', async () => `delivered, rows: ${await pull()}`],
    [
      'the days of the report',
      async () =>
        expected(await ask(`${daysPath(publisherReport)}?${window}`, await withToken()), 200, '"days"'),
    ],
    ['the waiting room', async () => expected(await ask(downloadPath('none', 1)), 404, ':no-such-download"')],
    ['the page', async () => expected(await ask('/'), 200, '<html')],
    ['a report without a token', async () => expected(await ask(report), 401, ':unauthenticated"')],
    ...SUSPICIOUS.map(
      ([what, filters]): Step => [
        `through the firewall: ${what}`,
        async () =>
          expected(await ask(report + filters, { ...(await withToken()), 'User-Agent': '' }), 303, ''),
      ],
    ),
  ];
}

if (import.meta.main) await reportingFaults(() => smokeCommand(process.argv.slice(2)));

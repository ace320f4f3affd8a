import { MetricUnit } from '@aws-lambda-powertools/metrics';
import * as v from 'valibot';
import type { LineLog, MetricSink } from '../http/request-log.ts';
import { METRIC, PROBE_ENV } from '../names.ts';
import { publisherReport } from '../report/catalogue.ts';
import { API_VERSIONS } from '../report/parse-request.ts';
import { DAY_MS, formatUtcTime, HOUR_MS, isYounger } from '../report/utc-time.ts';
import { daysPath, reportPath } from '../routes.ts';

/** What the secret holds. */
const client = v.object({ clientId: v.string(), clientSecret: v.string() });
/** Only characters that a header may hold: an error about any other would quote the token. */
const tokenText = v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/));
const tokenAnswer = v.object({ access_token: tokenText, expires_in: v.optional(v.number(), 300) });
const daysAnswer = v.object({ days: v.array(v.object({ day: v.string(), state: v.string() })) });

export interface ProbeParts {
  readonly config: Omit<ProbeConfig, 'finalAfterHours'>;
  readonly fetch: typeof globalThis.fetch;
  readonly readSecret: (id: string) => Promise<string>;
  readonly now: () => number;
  /** How many seconds after midnight the window begins. Another number makes another report, which is not cached. */
  readonly secondsLate?: number;
}

/** The service has no table for the report, as before its first events. Everything up to the listing has worked. */
export class TableMissing extends Error {
  override readonly message = "The report's table is missing: the lake has no events yet";
}

/** Time limit of each step: the token, and the report with all its redirects. */
const LONGEST_MS = 90_000;
/** A token is replaced this long before it expires. */
const SPARE_MS = 300_000;

/** Asks for a token, a report and the states of days as a partner does. Throws an Error that names the failed step. */
export function serviceProbe({ config, fetch, readSecret, now, secondsLate = 0 }: ProbeParts) {
  let cached: { readonly token: string; readonly at: number; readonly forMs: number } | undefined;

  const newToken = async (): Promise<string> => {
    const { clientId, clientSecret } = read(client, await readSecret(config.clientSecretId), 'The secret');
    const response = await fetch(config.tokenUrl, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: config.scope }),
      // A redirect would send the secret on to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    if (!response.ok) throw new Error(`The identity provider answers ${response.status}`);
    const answer = read(tokenAnswer, await response.text(), "The identity provider's answer");
    cached = { token: answer.access_token, at: now(), forMs: answer.expires_in * 1_000 - SPARE_MS };
    return cached.token;
  };

  /** Cognito charges for each token, so one is cached until shortly before it expires. */
  const token = async (): Promise<string> =>
    cached && isYounger(cached.at, cached.forMs, now()) ? cached.token : await newToken();

  /** Asks about the time between two instants, in milliseconds since 1970. */
  const ask = async (path: string, start: number, end: number, fields = {}, headers = {}) => {
    const [startInclusive, endExclusive] = [formatUtcTime(start), formatUtcTime(end)];
    const version = { 'api-version': API_VERSIONS.at(-1) as string };
    const query = new URLSearchParams({ ...fields, startInclusive, endExclusive, ...version });
    const response = await fetch(`${config.serviceUrl}${path}?${query}`, {
      headers: { Authorization: `Bearer ${await token()}`, ...headers },
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    if (response.status === 401) cached = undefined;
    return { status: response.status, text: await response.text() };
  };

  return {
    token,

    /** Pulls a small report of yesterday. Resolves to the number of its rows. */
    async pull(): Promise<number> {
      const end = Math.floor(now() / DAY_MS) * DAY_MS;
      const start = end - DAY_MS + secondsLate * 1_000;
      const fields = { requestedFields: 'Day,ServedAds' };
      const path = reportPath(publisherReport);
      const { status, text } = await ask(path, start, end, fields, { Accept: 'text/csv' });
      if (status === 404 && text.includes(':no-records"')) throw new TableMissing();
      if (status !== 200) throw new Error(`The report's request ends with ${status}`);
      const [header, ...rows] = text.trimEnd().split('\n');
      if (header !== '"Day","ServedAds"') throw new Error('The answer is not the report that was requested');
      return rows.length;
    },

    /** Whether the operator's promise is broken: the latest day that ended `finalAfterHours` ago (UTC) is not final. */
    async isLate(finalAfterHours: number): Promise<boolean> {
      const end = Math.floor((now() - finalAfterHours * HOUR_MS) / DAY_MS) * DAY_MS;
      const { status, text } = await ask(daysPath(publisherReport), end - DAY_MS, end);
      if (status !== 200) throw new Error(`The request for the days ends with ${status}`);
      const { days } = read(daysAnswer, text, 'The answer about the days');
      return days[0]?.state !== 'final';
    },
  };
}

interface ProbeActs {
  readonly pull: () => Promise<number>;
  readonly isLate?: (() => Promise<boolean>) | undefined;
  readonly log: LineLog;
  readonly metrics: MetricSink;
}

/** Pulls a report and counts what came. It never throws, because Lambda would run it again after an error. */
export function probeHandler({ pull, isLate, log, metrics }: ProbeActs) {
  return async (): Promise<void> => {
    const began = Date.now();
    const count = (name: string, value: number) => metrics.addMetric(name, MetricUnit.Count, value);
    try {
      const rows = await pull();
      const isDayLate = await isLate?.();
      count(METRIC.probePulled, 1);
      count(METRIC.probeRows, rows);
      if (isDayLate !== undefined) count(METRIC.lateDays, Number(isDayLate));
      log.info('probe', { isPulled: true, rows, isDayLate, durationMs: Date.now() - began });
    } catch (error) {
      count(METRIC.probePulled, 0);
      log.error('probe', { isPulled: false, durationMs: Date.now() - began, error });
    }
    metrics.publishStoredMetrics();
  };
}

/** Reads a JSON text. Its Error does not quote the text, which holds a secret, and is logged. */
function read<T>(schema: v.GenericSchema<unknown, T>, text: string, name: string): T {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (result.success) return result.output;
  throw new Error(`${name} has another form than expected`);
}

const url = v.pipe(v.string(), v.url());
const text = v.pipe(v.string(), v.nonEmpty());
const environment = v.object({
  API_SCOPE: text,
  [PROBE_ENV.serviceUrl]: url,
  [PROBE_ENV.tokenUrl]: url,
  [PROBE_ENV.clientSecretId]: text,
  FINAL_AFTER_HOURS: v.optional(v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number))),
});

type ProbeConfig = ReturnType<typeof readProbeConfig>;

/** Throws a ValiError that says what is missing or wrong. */
export function readProbeConfig(env: Readonly<Record<string, string | undefined>>) {
  const values = v.parse(environment, env);
  return Object.freeze({
    scope: `${values.API_SCOPE}/.default`,
    serviceUrl: values[PROBE_ENV.serviceUrl],
    tokenUrl: values[PROBE_ENV.tokenUrl],
    clientSecretId: values[PROBE_ENV.clientSecretId],
    finalAfterHours: values.FINAL_AFTER_HOURS,
  });
}

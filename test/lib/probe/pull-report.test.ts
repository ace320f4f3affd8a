import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { probeHandler } from '../../../lib/probe/probe-handler.ts';
import { reportPuller } from '../../../lib/probe/pull-report.ts';

const config = {
  scope: 'api://reports/.default',
  serviceUrl: 'https://reports.example',
  tokenUrl: 'https://login.example/token',
  clientSecretId: 'probe',
} as const;
const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

interface Call {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: string | undefined;
  readonly redirect?: RequestInit['redirect'];
}

/** An identity provider and a service in memory, which record their calls. */
function world(
  answers: {
    readonly csv?: string;
    readonly status?: number;
    readonly tokenStatus?: number;
    readonly secret?: string;
    readonly lifeSeconds?: unknown;
    readonly token?: string;
  } = {},
) {
  const {
    csv = '"Day","ServedAds"\n"2026-02-28T00:00:00Z",7\n',
    status = 200,
    tokenStatus = 200,
    secret = '{"clientId":"probe","clientSecret":"s3cret"}',
    lifeSeconds = 3_600,
    token,
  } = answers;
  const calls: Call[] = [];
  const state = { now: NOON, status };
  const pull = reportPuller({
    config,
    now: () => state.now,
    readSecret: async (id) => {
      expect(id).toBe('probe');
      return secret;
    },
    fetch: async (url, init) => {
      const { headers, body, redirect } = init as RequestInit & { headers: Record<string, string> };
      calls.push({
        url: String(url),
        authorization: headers['Authorization'] ?? null,
        body: body?.toString(),
        redirect,
      });
      return String(url) === config.tokenUrl
        ? Response.json(
            { access_token: token ?? `token-${calls.length}`, expires_in: lifeSeconds },
            { status: tokenStatus },
          )
        : new Response(csv, { status: state.status });
    },
  });
  return { calls, state, pull };
}

describe('a pull of the probe', () => {
  it('requests a token and yesterday’s report, as a partner does, and counts the report’s rows', async () => {
    const { calls, pull } = world();
    expect(await pull()).toBe(1);
    expect(calls).toEqual([
      {
        url: 'https://login.example/token',
        authorization: `Basic ${btoa('probe:s3cret')}`,
        body: 'grant_type=client_credentials&scope=api%3A%2F%2Freports%2F.default',
        // A redirect would take the secret to another host.
        redirect: 'manual',
      },
      {
        url:
          'https://reports.example/reporting/publisherperformance?requestedFields=Day%2CServedAds' +
          '&startInclusive=2026-02-28T00%3A00%3A00Z&endExclusive=2026-03-01T00%3A00%3A00Z&api-version=1.0',
        authorization: 'Bearer token-1',
        body: undefined,
      },
    ]);
  });

  it('counts no rows if the report has no data', async () => {
    expect(await world({ csv: '"Day","ServedAds"\n' }).pull()).toBe(0);
  });

  it('keeps its token until shortly before the token expires, and takes a new one if the service refuses it', async () => {
    const { calls, state, pull } = world();
    const tokensTaken = () => calls.filter(({ url }) => url === config.tokenUrl).length;
    await pull();
    state.now += 0.9 * HOUR;
    await pull();
    expect(tokensTaken()).toBe(1);
    state.now += 0.1 * HOUR;
    await pull();
    expect(tokensTaken()).toBe(2);
    state.status = 401;
    await expect(pull()).rejects.toThrow("The report's request ends with 401");
    state.status = 200;
    await pull();
    expect(tokensTaken()).toBe(3);
  });

  it('takes a new token if the clock was set back, because the age of the old one is not known', async () => {
    const { calls, state, pull } = world();
    await pull();
    state.now -= 2 * HOUR;
    await pull();
    expect(calls.filter(({ url }) => url === config.tokenUrl)).toHaveLength(2);
  });

  it.each([
    ['the token endpoint redirects', { tokenStatus: 307 }, 'The identity provider answers 307'],
    ['no token comes', { tokenStatus: 400 }, 'The identity provider answers 400'],
    ['the report fails', { status: 503 }, "The report's request ends with 503"],
    ['the answer is no report', { csv: '<html>' }, 'The answer is not the report that was requested'],
  ])('names the failed step if %s', async (_, answers, message) => {
    await expect(world(answers).pull()).rejects.toThrow(message);
  });
});

describe('the error of a pull', () => {
  it.each([
    ['the secret is no JSON', { secret: 's3cret' }, 'The secret has another form than expected'],
    ['the secret lacks a member', { secret: '{"id":"s3cret"}' }, 'The secret has another form than expected'],
    [
      'the token has a line break',
      { token: 's3cret\nx' },
      "The identity provider's answer has another form than expected",
    ],
    [
      'the token comes with a life that is no number',
      { lifeSeconds: 'long' },
      "The identity provider's answer has another form than expected",
    ],
  ])('quotes neither secret nor token if %s', async (_, answers, message) => {
    const error = await world(answers)
      .pull()
      .catch((thrown: unknown) => thrown);
    expect(error).toEqual(new Error(message));
    expect(inspect(error, { depth: 9 })).not.toMatch(/s3cret|token-1/);
  });
});

describe('the probe', () => {
  const run = async (pull: () => Promise<number>) => {
    const counted: unknown[] = [];
    const lines: unknown[] = [];
    const times: number[] = [];
    await probeHandler({
      pull,
      log: {
        info: (message, { durationMs, ...facts }) => {
          times.push(durationMs as number);
          lines.push(['info', message, facts['isPulled'], facts['rows']]);
        },
        warn: () => {},
        error: (message, facts) => lines.push(['error', message, facts['isPulled'], String(facts['error'])]),
      } as Parameters<typeof probeHandler>[0]['log'],
      metrics: {
        addMetric: (name: string, _unit: unknown, value: number) => counted.push([name, value]),
        publishStoredMetrics: () => counted.push('published'),
      } as unknown as Parameters<typeof probeHandler>[0]['metrics'],
    })();
    // If two different clocks gave start and end, the duration would be negative or longer than an hour.
    for (const time of times) expect(time).toSatisfy((ms: number) => ms >= 0 && ms < 3_600_000);
    return { counted, lines };
  };

  it('counts a report and its rows', async () => {
    expect(await run(async () => 3)).toEqual({
      counted: [['ProbePulled', 1], ['ProbeRows', 3], 'published'],
      lines: [['info', 'probe', true, 3]],
    });
  });

  it('counts a report that did not come, logs the cause, and throws no error', async () => {
    const failing = async () => {
      throw new Error('no token');
    };
    expect(await run(failing)).toEqual({
      counted: [['ProbePulled', 0], 'published'],
      lines: [['error', 'probe', false, 'Error: no token']],
    });
  });
});

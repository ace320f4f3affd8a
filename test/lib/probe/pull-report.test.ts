import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { probeHandler, serviceProbe } from '../../../lib/probe/pull-report.ts';

const config = {
  scope: 'api://reports/.default',
  serviceUrl: 'https://reports.example',
  tokenUrl: 'https://login.example/token',
  clientSecretId: 'probe',
} as const;
const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

/** An identity provider and a service in memory, which record their calls. */
function world({
  csv = '"Day","ServedAds"\n"2026-02-28T00:00:00Z",7\n',
  status = 200,
  tokenStatus = 200,
  secret = '{"clientId":"probe","clientSecret":"s3cret"}',
  lifeSeconds = 3_600 as unknown,
  token = undefined as string | undefined,
} = {}) {
  const calls: { url: string }[] = [];
  const state = { now: NOON, status, tokens: 0 };
  const probe = serviceProbe({
    config,
    now: () => state.now,
    readSecret: async (id) => {
      expect(id).toBe('probe');
      return secret;
    },
    fetch: async (url, init) => {
      const { headers, body, redirect } = init as RequestInit & { headers: Record<string, string> };
      const sent = { url: String(url), authorization: headers['Authorization'] };
      calls.push({ ...sent, ...(body && { body: String(body), redirect }) });
      if (String(url) !== config.tokenUrl) return new Response(csv, { status: state.status });
      const access_token = token ?? `token-${++state.tokens}`;
      return Response.json({ access_token, expires_in: lifeSeconds }, { status: tokenStatus });
    },
  });
  return { calls, state, ...probe };
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
      },
    ]);
  });

  it('keeps its token until shortly before the token expires, and takes a new one if the service refuses it', async () => {
    const { state, pull } = world();
    await pull();
    state.now += 0.9 * HOUR;
    await pull();
    expect(state.tokens).toBe(1);
    state.now += 0.1 * HOUR;
    await pull();
    expect(state.tokens).toBe(2);
    state.status = 401;
    await expect(pull()).rejects.toThrow("The report's request ends with 401");
    state.status = 200;
    await pull();
    expect(state.tokens).toBe(3);
  });

  it('takes a new token if the clock was set back, because the age of the old one is not known', async () => {
    const { state, pull } = world();
    await pull();
    state.now -= 2 * HOUR;
    await pull();
    expect(state.tokens).toBe(2);
  });

  it.each([
    ['the token endpoint redirects', { tokenStatus: 307 }, 'The identity provider answers 307'],
    ['no token comes', { tokenStatus: 400 }, 'The identity provider answers 400'],
    ['the report fails', { status: 503 }, "The report's request ends with 503"],
    ['the answer is no report', { csv: '<html>' }, 'The answer is not the report that was requested'],
    ['the secret is no JSON', { secret: 's3cret' }, 'The secret has another form than expected'],
    ['the secret lacks a member', { secret: '{"id":"s3cret"}' }, 'The secret has another form than expected'],
    ['the token has a line break', { token: 's3cret\nx' }, "The identity provider's answer has another form"],
    ['its life is no number', { lifeSeconds: 'long' }, "The identity provider's answer has another form"],
  ])('names the failed step, but quotes neither secret nor token, if %s', async (_, answers, message) => {
    const failing = world(answers).pull();
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringMatching(RegExp(`^${message}`)) });
    expect(inspect(error, { depth: 9 })).not.toMatch(/s3cret|token-1/);
  });
});

describe('the question whether a day is late', () => {
  const isLate = async (now: string, hours: number, days: object[], status = 200) => {
    const { state, calls, ...probe } = world({ csv: JSON.stringify({ days }), status });
    state.now = Date.parse(now);
    const late = await probe.isLate(hours);
    const asked = calls.filter(({ url }) => url !== config.tokenUrl);
    return [...asked.map(({ url }) => new URL(url).searchParams.get('startInclusive')), late];
  };
  const day = (state: string) => [{ day: 'any', state }];

  it.each<[string, number, string]>([
    ['2026-03-01T05:59:59Z', 6, '2026-02-27T00:00:00Z'],
    ['2026-03-01T06:00:00Z', 6, '2026-02-28T00:00:00Z'],
    ['2026-03-01T06:00:00Z', 30, '2026-02-27T00:00:00Z'],
  ])(
    'is about the latest day that should be final: at %s, %i h after its end, %s',
    async (now, hours, first) => {
      expect(await isLate(now, hours, day('final'))).toEqual([first, false]);
      expect(await isLate(now, hours, day('open'))).toEqual([first, true]);
      expect(await isLate(now, hours, day('unknown'))).toEqual([first, true]);
      // A day without events is in no list.
      expect(await isLate(now, hours, [])).toEqual([first, true]);
    },
  );

  it('fails if the service does not answer it', async () => {
    const failing = isLate('2026-03-01T06:00:00Z', 6, [], 500);
    await expect(failing).rejects.toThrow('The request for the days ends with 500');
  });
});

describe('the probe', () => {
  const run = async (pull: () => Promise<number>, isLate?: () => Promise<boolean>) => {
    const counted: unknown[] = [];
    const lines: unknown[] = [];
    const write = (level: string) => (message: string, facts: Record<string, unknown>) => {
      const { durationMs, error, ...rest } = facts;
      // If two different clocks gave start and end, the duration would be negative or longer than an hour.
      expect(durationMs).toSatisfy((ms: number) => ms >= 0 && ms < HOUR);
      lines.push([level, message, rest, ...(error ? [String(error)] : [])]);
    };
    const metrics = {
      addMetric: (name: string, _: unknown, value: number) => counted.push([name, value]),
      publishStoredMetrics: () => counted.push('published'),
    } as unknown as Parameters<typeof probeHandler>[0]['metrics'];
    await probeHandler({ pull, isLate, metrics, log: { info: write('info'), error: write('error') } })();
    return { counted, lines };
  };

  it('counts a report and its rows', async () => {
    const { counted, lines } = await run(async () => 3);
    expect(counted).toEqual([['ProbePulled', 1], ['ProbeRows', 3], 'published']);
    expect(lines).toEqual([['info', 'probe', { isPulled: true, rows: 3 }]]);
  });

  it('counts a late day, and no pull if it can not find out', async () => {
    const pull = async () => 3;
    for (const late of [true, false]) {
      const counts = [['ProbePulled', 1], ['ProbeRows', 3], ['LateDays', Number(late)], 'published'];
      expect((await run(pull, async () => late)).counted).toEqual(counts);
    }
    const failing = await run(pull, () => Promise.reject(new Error('no days')));
    expect(failing.counted).toEqual([['ProbePulled', 0], 'published']);
  });

  it('counts a report that did not come, logs the cause, and throws no error', async () => {
    const { counted, lines } = await run(() => Promise.reject(new Error('no token')));
    expect(counted).toEqual([['ProbePulled', 0], 'published']);
    expect(lines).toEqual([['error', 'probe', { isPulled: false }, 'Error: no token']]);
  });
});

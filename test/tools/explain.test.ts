import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TokenRules } from '../../lib/access/verify-token.ts';
import { startIdentityProvider } from '../../local/identity-provider/identity-provider.ts';
import { thisProcess } from '../../local/run-folder.ts';
import { writeStackFile } from '../../local/stack-file.ts';
import { checkToken, describeToken } from '../../tools/explain/explain-token.ts';
import { stageEnvironment } from '../../tools/explain/service-environment.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { stackFacts } from '../local/stack-facts.ts';
import { ownFolder } from '../own-folder.ts';
import { s3Of } from '../s3-of.ts';
import { startReleaseStandIn } from './release-stand-in.ts';

const home = await ownFolder();
const service = await ownService(knownEvents(7, 100));
await writeStackFile(home, { ...stackFacts, environment: service.stack.environment }, thisProcess('0'));

const API = 'api://performance-reports';
const SCOPE = `${API}/.default`;

describe('the fault of a token', async () => {
  const provider = await startIdentityProvider({ clients: [] });
  const other = await startIdentityProvider({ clients: [] });
  afterAll(() => Promise.all([provider.close(), other.close()]));

  const { issuer, jwksUri } = provider;
  const check = async (claims: object, more: Partial<TokenRules> = {}, { signToken } = provider) =>
    checkToken(await signToken({ ...claims }), { issuer, jwksUri, apiScope: API, ...more }, Date.now());
  const requiredClaim = { name: 'roles', value: 'Reports.Read' };

  it('is absent if the service accepts the token', async () => {
    expect(await check({ scope: SCOPE })).toMatchObject({ claims: { scope: SCOPE } });
    const named = { aud: API, roles: ['Reports.Read'] };
    expect(await check(named, { requiredClaim })).toMatchObject({ claims: named });
  });

  const LACKS = /lacks what every token.*"Reports.Read" in roles/;
  it.each<[string, object, Partial<TokenRules>, RegExp]>([
    ['another scope', { scope: 'api://other/.default' }, {}, /not requested with the scope/],
    ['the API in aud alone', { aud: API }, {}, /not requested with the scope/],
    ['the right scope, but without the required claim', { scope: SCOPE }, { requiredClaim }, LACKS],
    ['the API in aud, but no required claim', { aud: API }, { requiredClaim }, /"Reports.Read" in roles/],
    ['another issuer', { scope: SCOPE }, { issuer: 'https://other' }, /this stage trusts "https:\/\/other/],
    ['an expiry that is no time', { scope: SCOPE, exp: 1e20 }, {}, /It expires at 10{20}, which is no time/],
    ['an expiry in the past', { scope: SCOPE, exp: 1_700_000_000 }, {}, /It expired at 2023-11-14T22:13:20/],
  ])('is named for a token with %s', async (_, claims, rules, reason) => {
    expect(await check(claims, rules)).toEqual({ refused: expect.stringMatching(reason) });
  });

  it('does not hide the rest of a token whose times are no times', () => {
    const lines = describeToken({ header: {}, claims: { exp: 1e20, iat: Number.POSITIVE_INFINITY } });
    expect(lines).toContain('expires     100000000000000000000, which is no time');
    expect(lines).toContain('issued      Infinity, which is no time');
  });

  it('is the signature if another key signed the token', async () => {
    const refused = expect.stringContaining('The signature is not by a key of');
    expect(await check({ scope: SCOPE, iss: issuer }, {}, other)).toEqual({ refused });
  });
});

describe('the environment of a stage', () => {
  it('comes from the live release, and can’t be read if the stage is not deployed', async () => {
    const aws = await startReleaseStandIn({ publisherperformance: ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'] });
    onTestFinished(() => aws.close());
    for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    Object.assign(aws.functions.get('publisherperformance') ?? {}, { version: '1' });
    expect(await stageEnvironment('prod', 'publisherperformance')).toEqual({ COMMIT: 'aaaaaaaaaaaa' });
    const none =
      'There is no function performance-reports-elsewhere-publisherperformance with the alias live';
    await expect(stageEnvironment('elsewhere', 'publisherperformance')).rejects.toThrow(none);
  });
});

describe('npm run explain', () => {
  const window = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
  const question = { fields: ['Day', 'Clicks'], ...window };
  const query = queryOf(question);
  const urlOf = (query: string) => `${service.stack.apiUrl}/reporting/publisherperformance?${query}`;
  const url = urlOf(query);
  const command = join(import.meta.dirname, '../../tools/explain.ts');

  const explain = async (token: string, ...url: string[]) => {
    const running = promisify(execFile)(process.execPath, [command, 'local', '--token', '-', ...url], {
      env: { ...process.env, LOCAL_DIR: home },
    });
    running.child.stdin?.end(token);
    const { stdout } = await running;
    // The output must hold neither the token's signature nor a key of AWS.
    expect(stdout).not.toContain(token.split('.')[2]);
    expect(stdout).not.toContain(service.stack.environment['AWS_SECRET_ACCESS_KEY'] ?? 'no secret');
    return stdout;
  };

  const s3 = s3Of(service.stack);
  afterAll(() => s3.destroy());
  const Bucket = 'performance-reports-results';
  /** The keys in the results bucket that contain a job's name. */
  const storedKeys = async (job: string) => {
    const listing = await s3.send(new ListObjectsV2Command({ Bucket }));
    return (listing.Contents ?? []).map(({ Key }) => Key).filter((key) => key?.includes(job));
  };

  it('shows the token’s client, the rows that it may see, the SQL, and whether the report is cached', async () => {
    service.stack.faults.set([{ on: 'athena' }]);
    const before = await explain(service.token, url);
    expect(before).toMatch(/^partner +house, active/m);
    expect(before).toMatch(/^publisherperformance +every row$/m);
    expect(before).toMatch(/^SQL\n {2}SELECT/m);
    expect(before).toMatch(/^data +version \w+$/m);
    const [, job = ''] = /^job +(\w{64})$/m.exec(before) ?? [];
    expect(before).toMatch(/^cached +none: a query would be run$/m);
    expect(service.stack.faults.current()).toEqual([expect.objectContaining({ matched: 0 })]);

    await service.pull('publisherperformance', question);
    const after = await explain(service.token, url);
    expect(after).toMatch(/^cached +there, \d+ bytes, made by query \S+$/m);
    // By the job's id, an operator finds the stored objects of the job.
    expect(await storedKeys(job)).toEqual([`jobs/${job}.json`]);

    for (const Key of await storedKeys(/made by query (\S+)/.exec(after)?.[1] ?? ''))
      await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    const gone = /^cached +its file is gone, and callers get 404: remove s3:\S+jobs\/\S+\.json, and/m;
    expect(await explain(service.token, url)).toMatch(gone);
  });

  it('says that Athena has not started the query yet, while it throttles', async () => {
    const asked = query.replace('2026-01-01', '2026-01-02');
    service.stack.faults.set([{ on: 'athena', match: 'StartQueryExecution', throttle: true }]);
    const answer = service.request('publisherperformance', asked);
    await expect
      .poll(() => explain(service.token, urlOf(asked)), { timeout: 7_000 })
      .toMatch(/^cached +none yet: Athena is asked to start .*#engine-is-saturated$/m);
    service.stack.faults.set([]);
    expect((await answer).status).toBe(303);
  });

  it('prints what callers wrote without characters that control the terminal', async () => {
    const hidden = '%1b]0;x%07=1&%c2%9b31m=1&%e2%80%ae=1&filter[DeviceOrProxy]=%e2%80%ae';
    const said = await explain(service.token, `${url}&${hidden}`);
    expect(said.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(said).toContain('\\u{1b}]0;x\\u{7}: Unknown parameter.');
    const stderr = expect.not.stringContaining('\u{1b}');
    await expect(explain(service.token, '\u{1b}[2J')).rejects.toMatchObject({ stderr });
  });

  it('takes no token from the command line, which npm prints and the shell keeps', async () => {
    const refused = promisify(execFile)(process.execPath, [command, 'local', '--token', service.token]);
    const stderr = expect.stringMatching(/^npm has just shown the token, .*take --token -\n/);
    await expect(refused).rejects.toMatchObject({ code: 1, stderr });
  });

  it('says that the register has no record of a client', async () => {
    const { identityProvider, scope } = service.stack;
    const said = await explain(await identityProvider.signToken({ scope, client_id: 'stranger' }));
    expect(said).toMatch(/^record +none that can be read: s3:\/\//m);
    expect(said).toMatch(/^publisherperformance +401: the register has no such client$/m);
  });
});

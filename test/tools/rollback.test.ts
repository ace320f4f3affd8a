import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { faultLine } from '../../lib/terminal/operator-fault.ts';
import { movedAliases } from '../../tools/doctor/health.ts';
import { rollbackCommand } from '../../tools/rollback.ts';
import { type ReleaseStandIn, STAGE, startReleaseStandIn } from './release-stand-in.ts';

const [Z, A, B] = ['a', 'b', 'c'].map((letter) => letter.repeat(12)) as [string, string, string];
const FUNCTIONS = ['publisherperformance', 'downloads', 'publish', 'public'];
const WAITS = { pause: 1, stack: 60_000, answers: 60_000 };
const SHORT = { ...WAITS, answers: 1_000 };

let aws: ReleaseStandIn;
beforeEach(async () => {
  aws = await startReleaseStandIn(Object.fromEntries(FUNCTIONS.map((name) => [name, [Z, A, A, B]])));
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
});
afterEach(() => aws.close());

const rollback = async (args: readonly string[] = [], waits = WAITS) => {
  const lines: string[] = [];
  try {
    await rollbackCommand([STAGE, ...args], (...more) => lines.push(...more), waits);
    return { code: 0, lines };
  } catch (error) {
    return { code: 1, lines: [...lines, ...(faultLine(error) ?? `no fault: ${error}`).split('\n')] };
  }
};

const all = () => [...aws.functions.values()];
const named = (name: string) => aws.functions.get(name) ?? expect.fail(name);
const versions = () => Object.fromEntries([...aws.functions].map(([name, { version }]) => [name, version]));
const allAt = (version: number) => Object.fromEntries(FUNCTIONS.map((name) => [name, version]));
/** The versions that are marked as taken back. */
const takenBack = () => [...new Set(all().flatMap((each) => [...each.takenBack]))].sort();
const moves = () => aws.calls.filter((call) => call.startsWith('UpdateAlias'));
const deployed = (version: number) => {
  aws.stackVersions = allAt(version);
  for (const each of all()) each.version = version;
};

const withSeconds = expect.stringMatching(/ answer with it, after \d+ s\.$/);
const published = (release: string) =>
  `${release} (published 2026-01-0${'abc'.indexOf(release[0] as string) + 1}T00:00:00Z)`;
const already = [`Stage prod is at ${published(A)} already.`, 'Name a release to go elsewhere.'];
/** The last lines, whatever has happened. */
const closing = (from?: string) => [
  expect.stringMatching(/^Gone back: .*environment, with the settings .* Not gone back: .* tables, roles/),
  'To go on, mend the fault and deploy: npx cdk deploy --all -c stage=prod',
  expect.stringContaining(`puts back what it knows, not this. Then again: npm run rollback -- prod ${A}`),
  ...(from ? [`To undo this: npm run rollback -- prod ${from}`] : []),
];

describe('npm run rollback', () => {
  it('moves every function to its last version of the previous release, and says what it did', async () => {
    const { code, lines } = await rollback();
    expect([code, versions(), takenBack()]).toEqual([0, allAt(3), [4]]);
    expect(lines).toEqual([
      `Stage prod goes from ${published(B)} to ${published(A)}.`,
      `Moved: ${FUNCTIONS.join(', ')}.`,
      withSeconds,
      ...closing(B),
    ]);
    // The doctor tells of it.
    expect(await movedAliases(STAGE)).toEqual({
      finding: expect.stringContaining(`\n  public: 3 (${A}), deployed: 4 (${B})`),
      remedy: expect.stringMatching(/^Nothing to do/),
    });
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    expect(await movedAliases(STAGE)).toBeUndefined();
    expect(await movedAliases('elsewhere')).toBeUndefined();
  });

  it('goes forward again to a release that the operator names by its beginning', async () => {
    await rollback();
    expect((await rollback(['ccccccc'])).code).toBe(0);
    expect([versions(), takenBack(), await movedAliases(STAGE)]).toEqual([allAt(4), [], undefined]);
  });

  it.each([
    ['UpdateAlias', { status: 429, type: 'TooManyRequestsException' }, 'Lambda throttles'],
    ['CreateAlias', { status: 409, type: 'ResourceConflictException' }, 'another command makes the mark'],
  ])('goes on after the answer to %s %j: %s', async (operation, refusal) => {
    aws.refuse = (call) => {
      if (!call.startsWith(operation)) return undefined;
      aws.refuse = () => undefined;
      if (operation === 'CreateAlias') named(call.split(' ')[1] ?? '').takenBack.add(4);
      return refusal;
    };
    expect((await rollback()).code).toBe(0);
    expect(versions()).toEqual(allAt(3));
  });

  it('moves the other functions if one cannot be moved, names that one, and ends with exit code 1', async () => {
    const refusal = { status: 403, type: 'AccessDeniedException' };
    aws.refuse = (call) => (call === 'UpdateAlias public 3' ? refusal : undefined);
    const { code, lines } = await rollback();
    expect([code, versions()]).toEqual([1, { ...allAt(3), public: 4 }]);
    expect(lines).toContain('FAILED: public: AccessDeniedException: made to refuse');
    expect(lines.slice(-5)).toEqual([
      ...closing(B),
      `Not at ${A}: public. Repeat this command: it finishes what is half done.`,
    ]);
  });

  it('leaves a function that is new in the release where it is, names its routes, and never goes to that release again', async () => {
    aws.functions.set('public', { releases: [B], version: 1, takenBack: new Set() });
    aws.functions.set('abandon', { releases: [B], version: 1, takenBack: new Set() });
    const { code, lines } = await rollback();
    const others = { publisherperformance: 3, downloads: 3, publish: 3 };
    expect([code, versions()]).toEqual([0, { ...others, public: 1, abandon: 1 }]);
    expect(lines.slice(1, 4)).toEqual([
      `abandon has no version of ${A}: it stays at ${B}.`,
      `public has no version of ${A}: it stays at ${B}, which goes on to answer /openapi.json, /reporting/fields, /, /page/{file}, /docs, /docs/{document}, /llms.txt and every path without a route.`,
      'Moved: publisherperformance, downloads, publish.',
    ]);
    expect((await rollback()).lines[0]).toBe(`Stage prod is at ${published(A)} already.`);
    const D = 'd'.repeat(12);
    for (const each of all()) Object.assign(each, { releases: [...each.releases, D] });
    for (const each of all()) each.version = each.releases.length;
    aws.stackVersions = versions();
    expect((await rollback()).lines[0]).toMatch(RegExp(`goes from ${D} .* to ${A} `));
    expect(versions()).toEqual({ ...others, public: 2, abandon: 2 });
  });

  it('ends well if the gateway’s limits let it not hear some functions', async () => {
    for (const path of ['/openapi.json', '/reporting/publisherperformance']) aws.silent.set(path, 429);
    const { code, lines } = await rollback([], SHORT);
    expect([code, versions()]).toEqual([0, allAt(3)]);
    expect(lines.slice(2, 4)).toEqual([
      'Not heard, because the gateway lets few requests in: /reporting/publisherperformance, /openapi.json. Their aliases are moved.',
      expect.stringMatching(/and the other routes answer with it, after \d+ s\.$/),
    ]);
  });

  it('asks again after 429, and then believes the answers', async () => {
    aws.silent.set('/openapi.json', 429);
    setTimeout(() => aws.silent.clear(), 50);
    const { code, lines } = await rollback();
    expect([code, lines[2]]).toEqual([0, withSeconds]);
  });

  it.each([
    ['one route does', { '/openapi.json': 500 }],
    ['routes do', { '/reporting/downloads/rollback/rollback': 401, '/openapi.json': 500 }],
  ])('fails if %s not answer with the release in time, says which, and how to go on', async (_, silent) => {
    const answers = Object.entries(silent);
    for (const [path, status] of answers) aws.silent.set(path, status);
    const { code, lines } = await rollback([], SHORT);
    expect([code, ...lines.slice(-5 - answers.length)]).toEqual([
      1,
      ...closing(B),
      `The aliases are moved, but these do not answer with ${A}:`,
      ...answers.map(([path, status]) => `  ${path}: ${status} without Service-Version`),
    ]);
    // A repeated command does not go back further.
    aws.silent.clear();
    const again = await rollback();
    expect([again.code, ...again.lines.slice(0, 2)]).toEqual([0, ...already]);
    expect(versions()).toEqual(allAt(3));
  });

  it('stops a deployment, and does not change what CloudFormation has put back', async () => {
    deployed(3);
    named('downloads').version = 4;
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    aws.onPutBack = () => Object.assign(named('downloads'), { version: 3 });
    const { code, lines } = await rollback();
    expect([code, aws.calls]).toEqual([0, ['CancelUpdateStack']]);
    expect(lines).toEqual([
      'A deployment was under way, and is stopped.',
      'Waits until CloudFormation has put the stack performance-reports-prod-api back.',
      'The stack stands in UPDATE_ROLLBACK_COMPLETE.',
      ...already,
      withSeconds,
      ...closing(),
    ]);
    // The same command runs again, as if the first had been killed while it waited.
    const again = await rollback();
    expect(again.code).toBe(1);
    expect(again.lines[0]).toMatch(RegExp(`put the last deployment back: .* at ${A}`));
    expect(versions()).toEqual(allAt(3));
  });

  it('moves the aliases of a stack that is stuck, and says where to read on', async () => {
    aws.stackVersions = allAt(3);
    aws.stackStatus = 'UPDATE_ROLLBACK_FAILED';
    const { code, lines } = await rollback();
    expect([code, versions()]).toEqual([0, allAt(3)]);
    expect(lines[0]).toMatch(/could not put the stack .* back, .*"the-stack-is-stuck" in docs\/runbook\.md/);
  });

  it('moves nothing if CloudFormation has not put the stack back in time', async () => {
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    const { code, lines } = await rollback([], { ...WAITS, stack: 0 });
    expect([code, moves()]).toEqual([1, []]);
    expect(lines.at(-1)).toMatch(/is still in UPDATE_IN_PROGRESS, and may move aliases\. Repeat this/);
  });

  it('stops no deployment if no function has a version of the named release', async () => {
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    const { code, lines } = await rollback(['fffffff']);
    const first = 'No function has a version of fffffff. There are:';
    expect([code, lines[0], aws.calls]).toEqual([1, first, []]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { faultLine } from '../../lib/terminal/operator-fault.ts';
import { rollbackCommand } from '../../tools/rollback/rollback-command.ts';
import { type ReleaseStandIn, STAGE, startReleaseStandIn } from './release-stand-in.ts';

const [Z, A, B] = ['a', 'b', 'c'].map((letter) => letter.repeat(12)) as [string, string, string];
const FUNCTIONS = ['publisherperformance', 'downloads', 'publish', 'page', 'notfound'];
const WAITS = { pause: 1, stack: 60_000, answers: 60_000 };

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

const functionOf = (name: string) => {
  const found = aws.functions.get(name);
  if (!found) throw new TypeError(name);
  return found;
};
/** The versions of each function's alias: `2`, or `2+3` if version 3 gets a part of the requests. */
const aliases = () =>
  Object.fromEntries(
    [...aws.functions].map(([name, { version, weights }]) => [
      name,
      [version, ...Object.keys(weights)].join('+'),
    ]),
  );
const allAt = (version: string) => Object.fromEntries(FUNCTIONS.map((name) => [name, version]));
const allAtNumber = (version: number) => Object.fromEntries(FUNCTIONS.map((name) => [name, version]));
/** The versions of all functions that are marked as taken back. */
const takenBack = () =>
  [...new Set([...aws.functions.values()].flatMap((each) => [...each.takenBack]))].sort();
const moves = () => aws.calls.filter((call) => call.startsWith('UpdateAlias'));

const withSeconds = expect.stringMatching(/after \d+ s[:.]/);

describe('npm run rollback', () => {
  it('moves every function to its last version of the previous release, and says what it did', async () => {
    const { code, lines } = await rollback();
    expect(aliases()).toEqual(allAt('3'));
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        `Stage prod goes from ${B} (published 2026-01-03T00:00:00Z) to ${A} (published 2026-01-02T00:00:00Z).`,
        `Moved: ${FUNCTIONS.join(', ')}.`,
        withSeconds,
        expect.stringMatching(
          /^Gone back: .*environment, with the settings .* Not gone back: .* tables, roles, routes/,
        ),
        'To go on, mend the fault and deploy: npx cdk deploy --all -c stage=prod',
        expect.stringContaining(
          `puts back what it knows, not this. Then again: npm run rollback -- prod ${A}`,
        ),
        `To undo this: npm run rollback -- prod ${B}`,
      ],
    });
  });

  it('goes forward again to a release that the operator names by its beginning', async () => {
    await rollback();
    expect(takenBack()).toEqual([4]);
    expect((await rollback(['ccccccc'])).code).toBe(0);
    expect(aliases()).toEqual(allAt('4'));
    expect(takenBack()).toEqual([]);
  });

  it('does not go to a release that was itself taken back', async () => {
    await rollback();
    const D = 'd'.repeat(12);
    for (const each of aws.functions.values())
      Object.assign(each, { commits: [Z, A, A, B, D], version: '5' });
    aws.stackVersions = allAtNumber(5);
    expect((await rollback()).lines[0]).toMatch(RegExp(`goes from ${D} .* to ${A} `));
    expect(aliases()).toEqual(allAt('3'));
    expect(takenBack()).toEqual([4, 5]);
  });

  it('finishes if another command has marked a version meanwhile', async () => {
    aws.refuse = (call) => {
      if (!call.startsWith('CreateAlias')) return undefined;
      functionOf(call.split(' ')[1] ?? '').takenBack.add(4);
      return { status: 409, type: 'ResourceConflictException' };
    };
    expect((await rollback()).code).toBe(0);
  });

  it('moves nothing if every function already has the commit', async () => {
    await rollback();
    aws.calls.splice(0);
    const { code, lines } = await rollback([A]);
    expect({ code, first: lines[0] }).toEqual({
      code: 0,
      first: `Stage prod is at ${A} (published 2026-01-02T00:00:00Z) already.`,
    });
    expect(moves()).toEqual([]);
  });

  it('removes the share of requests that another version gets', async () => {
    Object.assign(functionOf('downloads'), { version: '3', weights: { 4: 0.1 } });
    expect((await rollback()).code).toBe(0);
    expect(aliases()).toEqual(allAt('3'));
  });

  it('finishes the work of a killed command', async () => {
    functionOf('downloads').version = '3';
    expect((await rollback()).code).toBe(0);
    expect(aliases()).toEqual(allAt('3'));
    expect(moves()).toHaveLength(FUNCTIONS.length - 1);
  });

  it('tries again if Lambda throttles', async () => {
    aws.refuse = (call) => {
      aws.refuse = () => undefined;
      return call.startsWith('UpdateAlias') ? { status: 429, type: 'TooManyRequestsException' } : undefined;
    };
    expect((await rollback()).code).toBe(0);
    expect(aliases()).toEqual(allAt('3'));
  });

  it('moves the other functions if one cannot be moved, names that one, and ends with exit code 1', async () => {
    aws.refuse = (call) =>
      call === 'UpdateAlias page 3' ? { status: 403, type: 'AccessDeniedException' } : undefined;
    const { code, lines } = await rollback();
    expect(aliases()).toEqual({ ...allAt('3'), page: '4' });
    expect(code).toBe(1);
    expect(lines).toContain('FAILED: page: AccessDeniedException: made to refuse');
    expect(lines.slice(-2)).toEqual([
      `To undo this: npm run rollback -- prod ${B}`,
      `Not at ${A}: page. Repeat this command: it finishes what is half done.`,
    ]);
  });

  it('does not move a function that is new in the release, and does not wait for its routes', async () => {
    aws.functions.set('fields', { commits: [B], version: '1', weights: {}, takenBack: new Set() });
    const { code, lines } = await rollback();
    expect(code).toBe(0);
    expect(lines).toContain(`fields has no version of ${A}: it stays as it is.`);
  });

  it('ends well if the gateway’s limits let it hear no function', async () => {
    for (const path of ['/', '/nothing', '/rollback', '/reporting/publisherperformance'])
      aws.silent.set(path, 429);
    const { code, lines } = await rollback([], { ...WAITS, answers: 1_000 });
    expect(code).toBe(0);
    expect(lines.slice(2, 4)).toEqual([
      'Not heard, because the gateway lets few requests in: /reporting/publisherperformance, /, /rollback. Their aliases are moved.',
      expect.stringMatching(/and the other routes answer with it, after \d+ s\.$/),
    ]);
    expect(aliases()).toEqual(allAt('3'));
  });

  it('asks again after 429, and then believes the answers', async () => {
    aws.silent.set('/', 429);
    setTimeout(() => aws.silent.clear(), 50);
    const { code, lines } = await rollback();
    expect(code).toBe(0);
    expect(lines.join('\n')).not.toContain('Not heard');
  });

  it('fails if routes do not answer with the release in time, names these routes, and says how to go on', async () => {
    aws.silent.set('/', 500).set('/reporting/downloads/rollback/rollback', 401);
    const { code, lines } = await rollback([], { ...WAITS, answers: 1_000 });
    expect(code).toBe(1);
    expect(lines.slice(-5)).toEqual([
      expect.stringContaining('Then again: npm run rollback -- prod'),
      `To undo this: npm run rollback -- prod ${B}`,
      `The aliases are moved, but these do not answer with ${A}:`,
      '  /reporting/downloads/rollback/rollback: 401 without Service-Version',
      '  /: 500 without Service-Version',
    ]);
    // A repeated command does not go back further.
    aws.silent.clear();
    const again = await rollback();
    expect({ code: again.code, lines: again.lines.slice(0, 2) }).toEqual({
      code: 0,
      lines: [
        `Stage prod is at ${A} (published 2026-01-02T00:00:00Z) already.`,
        'Name a release to go elsewhere.',
      ],
    });
    expect(aliases()).toEqual(allAt('3'));
  });

  it('stops a deployment, and does not change what CloudFormation has put back', async () => {
    aws.stackVersions = allAtNumber(3);
    for (const name of FUNCTIONS) functionOf(name).version = '3';
    functionOf('downloads').version = '4';
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    aws.onPutBack = () => {
      functionOf('downloads').version = '3';
    };
    const { code, lines } = await rollback();
    expect(code).toBe(0);
    expect(aws.calls).toEqual(['CancelUpdateStack']);
    expect(lines).toEqual([
      'A deployment was under way, and is stopped.',
      'Waits until CloudFormation has put the stack performance-reports-prod-api back.',
      'The stack stands in UPDATE_ROLLBACK_COMPLETE.',
      `Stage prod is at ${A} (published 2026-01-02T00:00:00Z) already.`,
      'Name a release to go elsewhere.',
      withSeconds,
      expect.stringMatching(/^Gone back/),
      'To go on, mend the fault and deploy: npx cdk deploy --all -c stage=prod',
      expect.stringContaining('Then again: npm run rollback -- prod'),
    ]);
    // The same command runs again, as if the first had been killed while it waited.
    const again = await rollback();
    expect(again.code).toBe(1);
    expect(again.lines[0]).toMatch(RegExp(`put the last deployment back: .* at ${A}`));
    expect(aliases()).toEqual(allAt('3'));
  });

  it('moves the aliases of a stack that is stuck, and says where to read on', async () => {
    aws.stackVersions = allAtNumber(3);
    aws.stackStatus = 'UPDATE_ROLLBACK_FAILED';
    const { code, lines } = await rollback();
    expect({ code, first: lines[0] }).toEqual({
      code: 0,
      first: expect.stringMatching(
        /could not put the stack .* back\. .*"the-stack-is-stuck" in docs\/runbook\.md/,
      ),
    });
    expect(aliases()).toEqual(allAt('3'));
  });

  it('moves nothing if CloudFormation has not put the stack back in time', async () => {
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    const { code, lines } = await rollback([], { ...WAITS, stack: 0 });
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatch(
      /is still in UPDATE_IN_PROGRESS, and may move aliases\. Repeat this command/,
    );
    expect(moves()).toEqual([]);
  });

  it('succeeds if the deployment that it stops was the first one with aliases', async () => {
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    aws.onPutBack = () => aws.functions.clear();
    const { code, lines } = await rollback();
    expect({ code, last: lines.at(-1) }).toEqual({
      code: 0,
      last: 'Stage prod is as it was before that deployment: a release without aliases.',
    });
  });

  it('stops no deployment if no function has a version of the named commit', async () => {
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    const { code, lines } = await rollback(['fffffff']);
    expect({ code, first: lines[0] }).toEqual({
      code: 1,
      first: 'No function has a version of fffffff. There are:',
    });
    expect(aws.calls).toEqual([]);
  });
});

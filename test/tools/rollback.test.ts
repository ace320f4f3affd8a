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
        expect.stringMatching(/^Not gone back: tables, roles, routes, alarms/),
        'To go on, mend the fault and deploy: npx cdk deploy --all -c stage=prod',
        expect.stringContaining(
          `puts back what it knows, not this. Then again: npm run rollback -- prod ${A}`,
        ),
        `To undo this: npm run rollback -- prod ${B}`,
      ],
    });
  });

  it('goes forward again to a commit that the operator names by its beginning', async () => {
    await rollback();
    expect((await rollback(['ccccccc'])).code).toBe(0);
    expect(aliases()).toEqual(allAt('4'));
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
    expect(lines).toContain('NOT moved: page: AccessDeniedException: made to refuse');
    expect(lines.at(-1)).toBe(`Not at ${A}: page. Repeat this command: it finishes what is half done.`);
  });

  it('does not move a function that is new in the release, and does not wait for its routes', async () => {
    aws.functions.set('fields', { commits: [B], version: '1', weights: {} });
    const { code, lines } = await rollback();
    expect(code).toBe(0);
    expect(lines).toContain(`fields has no version of ${A}: it stays as it is.`);
  });

  it('fails if routes do not answer with the commit in time, and names these routes', async () => {
    aws.silent.add('/').add('/reporting/downloads/rollback/rollback');
    const { code, lines } = await rollback([], { ...WAITS, answers: 0 });
    expect(code).toBe(1);
    expect(lines.slice(-3)).toEqual([
      `The aliases are moved, but these do not answer with ${A}:`,
      '  /reporting/downloads/rollback/rollback: 401 without Service-Version',
      '  /: 401 without Service-Version',
    ]);
    // A repeated command does not go back further.
    aws.silent.clear();
    const again = await rollback();
    expect({ code: again.code, lines: again.lines.slice(0, 2) }).toEqual({
      code: 0,
      lines: [
        `Stage prod is at ${A} (published 2026-01-02T00:00:00Z) already.`,
        'Name a commit to go elsewhere.',
      ],
    });
    expect(aliases()).toEqual(allAt('3'));
  });

  it.each([
    ['while CodeDeploy shifts requests', undefined, []],
    [
      'when CodeDeploy has just ended its shift',
      { status: 400, type: 'DeploymentAlreadyCompletedException' },
      [],
    ],
    [
      'even if CodeDeploy refuses to stop its shift',
      { status: 403, type: 'AccessDeniedException' },
      ['CodeDeploy does not stop its shift: AccessDeniedException: made to refuse'],
    ],
  ])(
    'stops a deployment %s, and does not change what CloudFormation has put back',
    async (_, refusal, told) => {
      aws.refuse = () => refusal;
      aws.stackVersions = allAtNumber(3);
      for (const name of FUNCTIONS) functionOf(name).version = '3';
      functionOf('downloads').weights = { 4: 0.1 };
      aws.stackStatus = 'UPDATE_IN_PROGRESS';
      aws.deployments.set('performance-reports-prod-downloads', 'd-1');
      aws.onPutBack = () => {
        functionOf('downloads').weights = {};
      };
      const { code, lines } = await rollback();
      expect(code).toBe(0);
      expect(aws.calls).toEqual(['StopDeployment d-1 true', 'CancelUpdateStack']);
      expect(lines).toEqual([
        ...told,
        'A deployment was under way, and is stopped.',
        'Waits until CloudFormation has put the stack performance-reports-prod-api back.',
        'The stack stands in UPDATE_ROLLBACK_COMPLETE.',
        `Stage prod is at ${A} (published 2026-01-02T00:00:00Z) already.`,
        'Name a commit to go elsewhere.',
        withSeconds,
        expect.stringMatching(/^Not gone back/),
        'To go on, mend the fault and deploy: npx cdk deploy --all -c stage=prod -c shift=no',
        expect.stringContaining('Then again: npm run rollback -- prod'),
      ]);
      // The same command runs again, as if the first had been killed while it waited.
      const again = await rollback();
      expect(again.code).toBe(1);
      expect(again.lines[0]).toMatch(RegExp(`put the last deployment back: .* at ${A}`));
      expect(aliases()).toEqual(allAt('3'));
    },
  );

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

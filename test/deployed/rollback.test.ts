/**
 * Deploys releases one after the other to a stage with the settings as shipped, and takes them back, while callers wait
 * for reports. Each case starts where the last one ended.
 */
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { LIVE_ALIAS, resourceNames } from '../../infra/resource-names.ts';
import { routes } from '../../lib/routes.ts';
import { readLiveFunctions } from '../../tools/live-functions.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { type Service, startService } from '../e2e/service.ts';
import { addHouse } from './add-house.ts';
import { changedCopy } from './changed-copy.ts';
import { SLOWNESS } from './emulator-faults.ts';
import { currentLane, type Lane, laneEnvironment } from './lane.ts';
import { operator, REGION, ROOT_CREDENTIALS } from './operator.ts';

const stage = 'shipped';
const lane = { ...(currentLane() as Lane), stage };
const operate = operator(lane);
const lambda = new LambdaClient({ endpoint: lane.endpoint, region: REGION, credentials: ROOT_CREDENTIALS });
const events = knownEvents(27, 200);

/** How long a query runs that a caller waits for. It is longer than the query's first request waits. */
const SLOW_MS = 15_000;
const MINUTE_MS = 60_000;

/** Deploys code as the release `commit`, with these settings in place of those of `prod`. */
const deploy = (commit: string, { directory, settings }: { directory?: string; settings?: object } = {}) => {
  process.env['LANE_SETTINGS'] = JSON.stringify(settings ?? {});
  const parameters = ['--all', '--require-approval', 'never', '-c', `commit=${commit}`];
  return operator(lane, directory).cdk('deploy', stage, ...parameters);
};

/** A copy of the project whose report handler runs this statement too. */
const faultyCopy = (statement: string) =>
  changedCopy('lib/http/report-handler.ts', (source) =>
    source.replace('facts.report = report.name;', `$&\n      ${statement}`),
  );

/** The question with this number. Another number gives another question. */
const question = (number: number): Question => ({
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: `2026-02-01T00:${String(Math.floor(number / 60)).padStart(2, '0')}:${String(number % 60).padStart(2, '0')}Z`,
});
const expected = (number: number) =>
  expectedReport('publisherperformance', events.publisher_events, question(number));

let service: Service;
let asked = 0;

/** The releases that the answers at all routes name, an unknown path included; or the answer, if it names none. */
async function answered(): Promise<ReadonlySet<string>> {
  const address = await operate.apiAddress(stage);
  const releases = new Set<string>();
  for (const path of [...routes.map((route) => route.path.replaceAll(/\{\w+\}/g, 'x')), '/nothing']) {
    const answer = await fetch(address + path, { redirect: 'manual' });
    const text = await answer.text();
    releases.add(answer.headers.get('service-version') ?? `${path}: ${answer.status} ${text}`);
  }
  return releases;
}

/** The releases to which the aliases lead. The functions without a route are included. */
const live = async () =>
  new Set(
    (await readLiveFunctions(lambda, stage)).map(
      (each) => each.versions.find(({ number }) => number === each.live)?.release,
    ),
  );

const outcome = async () => (await operate.outputs(stage, 'api'))['GateOutcome'];

async function stackStatus(): Promise<string> {
  const stack = `${resourceNames(stage).service}-api`;
  return operate.text('cloudformation describe-stacks --query Stacks[0].StackStatus --stack-name', stack);
}

/** Runs `npm run rollback`, which must succeed within a minute, and print how to go on. Resolves to its output. */
async function rollback(...parameters: string[]): Promise<string> {
  const began = Date.now();
  const output = await operate.rollback(stage, ...parameters);
  const ms = Date.now() - began;
  process.stdout.write(`${output}npm run rollback took ${Math.round(ms / 1_000)} s.\n`);
  expect(ms).toBeLessThan(MINUTE_MS);
  expect(output).toContain(`To go on, mend the fault and deploy: npx cdk deploy --all -c stage=${stage}\n`);
  expect(output).toMatch(/\nTo undo this: npm run rollback -- shipped \S+\n$/);
  return output;
}

/** Two callers who pull reports with slow queries, one after the other. Stopped, they resolve to what went wrong. */
function startCallers(): () => Promise<string[]> {
  service.stack.faults.set([{ on: 'query', match: 'SELECT', delayMs: SLOW_MS / SLOWNESS }]);
  const faults: string[] = [];
  let isStopped = false;
  let pulled = 0;
  const caller = async () => {
    while (!isStopped) {
      const number = asked++;
      const text = await service.pull('publisherperformance', question(number)).catch(String);
      pulled += 1;
      if (text !== expected(number)) faults.push(text);
    }
  };
  const callers = [caller(), caller()];
  return async () => {
    isStopped = true;
    await Promise.all(callers);
    service.stack.faults.set([]);
    process.stdout.write(`Callers pulled ${pulled} reports meanwhile.\n`);
    return pulled > 0 ? faults : ['no caller pulled a report'];
  };
}

/** Runs `act` while callers wait for reports. Fails if a caller sees an error. */
async function whileCallersWait(act: () => Promise<void>): Promise<void> {
  const stop = startCallers();
  await act().finally(async () => expect(await stop()).toEqual([]));
}

afterAll(() => service?.close());

/** The release of each letter: the commit and the hash of the settings. */
const releases: Record<string, string> = {};
const remember = async (letter: string) => {
  const [release = '', ...more] = await live();
  expect(more).toEqual([]);
  releases[letter] = release;
  return release;
};

describe('a stage with the settings as shipped', () => {
  it('has a first deployment, which the gate lets pass and says why', async () => {
    await deploy('aaaaaaaaaaaa');
    expect(await outcome()).toMatch(/^not checked: this deployment made the gate, and may have no partner/);
    expect(await remember('first')).toMatch(/^a{12}-[0-9a-f]{6}$/);
  });

  it('refuses each release until the probe’s client is a partner', async () => {
    await expect(deploy('aaaaaaaaaaab')).rejects.toThrow(
      /is refused, and no alias has moved: The report's request ends with 401/,
    );
    expect(await live()).toEqual(new Set([releases['first']]));
    const client = await addHouse(operate, stage);
    Object.assign(process.env, laneEnvironment({ ...lane, client }));
  });

  it('takes a release that works, even if the lake is empty', async () => {
    await deploy('aaaaaaaaaaaa', { settings: { logDays: 60 } });
    expect(await remember('A')).not.toBe(releases['first']);
    expect(await outcome()).toMatch(
      /^checked: 6 functions answer with a{12}-\w{6}; no report was pulled, because the lake has no events yet$/,
    );
    service = await startService(events);
    expect(await answered()).toEqual(new Set([releases['A']]));
  });

  it('refuses a release whose reports fail: no caller meets it, and its versions are gone', async () => {
    await using faulty = await faultyCopy("throw new Error('the fault of this release');");
    const before = await readLiveFunctions(lambda, stage);
    await whileCallersWait(async () => {
      await expect(deploy('bbbbbbbbbbb1', { directory: faulty.directory })).rejects.toThrow(
        /b{11}1-\w{6} is refused, and no alias has moved: The report's request ends with 500/,
      );
      expect(await live()).toEqual(new Set([releases['A']]));
      expect(await answered()).toEqual(new Set([releases['A']]));
    });
    expect(await stackStatus()).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(await readLiveFunctions(lambda, stage)).toEqual(before);
  });

  it('takes a release with a fault that the gate can’t see, which one command takes back', async () => {
    await using faulty = await faultyCopy("if (report.name.startsWith('adv')) throw new Error('x');");
    await whileCallersWait(async () => {
      await deploy('bbbbbbbbbbbb', { directory: faulty.directory });
      expect(await remember('B')).toMatch(/^b{12}-/);
      await expect(
        service.pull('advertiserperformance', { ...question(3_500), fields: ['Day', 'Spend'] }),
      ).rejects.toThrow(/^500/);
      expect(await rollback()).toContain(`goes from ${releases['B']} `);
      expect(await live()).toEqual(new Set([releases['A']]));
      expect(await answered()).toEqual(new Set([releases['A']]));
    });
    expect(await operate.rollback(stage, releases['A'] ?? '')).toContain('already');
  });

  it('takes the next release, whose way back does not lead to the one that was taken back', async () => {
    await whileCallersWait(async () => {
      await deploy('cccccccccccc');
      expect(await remember('C')).toMatch(/^c{12}-/);
      expect(await outcome()).toMatch(/^checked: 6 functions answer with c{12}-\w{6}; a report/);
      expect(await rollback()).toMatch(RegExp(`goes from ${releases['C']} .* to ${releases['A']} `));
      const again = await rollback(releases['C'] ?? '');
      expect(again).toMatch(RegExp(`goes from ${releases['A']} .* to ${releases['C']} `));
    });
    expect(await live()).toEqual(new Set([releases['C']]));
  });

  it('goes back by itself if nothing works during an update: callers who waited get their reports', async () => {
    service.stack.faults.set([{ on: 'query', match: 'SELECT', delayMs: (4 * SLOW_MS) / SLOWNESS }]);
    const waiting = service.pull('publisherperformance', question(asked));
    await expect.poll(() => service.stack.faults.current()[0]?.matched, { timeout: 30_000 }).toBe(1);
    service.stack.faults.set([
      { on: 'query', match: 'SELECT', fail: 'retryable' },
      ...['jobs/', 'partners/', 'slots/'].map((match) => ({ on: 's3', match, status: 500 }) as const),
      { on: 'athena', status: 500 },
    ]);
    await expect(deploy('dddddddddddd')).rejects.toThrow(/d{12}-\w{6} is refused, and no alias has moved/);
    service.stack.faults.set([]);
    expect(await stackStatus()).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(await answered()).toEqual(new Set([releases['C']]));
    expect(await waiting).toBe(expected(asked++));
  });

  const longestQuery = async () => {
    const FunctionName = resourceNames(stage).functionName('publisherperformance');
    const live = new GetFunctionConfigurationCommand({ FunctionName, Qualifier: LIVE_ALIAS });
    return (await lambda.send(live)).Environment?.Variables?.['LONGEST_QUERY_MS'];
  };

  it('takes changed settings back as a release of their own, with the limits of a new account', async () => {
    const settings = { executions: 10, reports: { longestQuerySeconds: 1, downloadUrlSeconds: 300 } };
    await deploy('cccccccccccc', { settings });
    expect([...(await live())]).not.toEqual([releases['C']]);
    expect(await longestQuery()).toBe('1000');
    expect(await rollback()).toMatch(RegExp(` to ${releases['C']} `));
    expect([...(await live())]).toEqual([releases['C']]);
    expect(await longestQuery()).toBe('600000');
  });
});

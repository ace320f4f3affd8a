/** Rolls back a faulty release by one command, and deploys the next release. Each case starts where the last ended. */
import { InvokeCommand, LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIVE_ALIAS, resourceNames } from '../../infra/resource-names.ts';
import { routes } from '../../lib/routes.ts';
import { readLiveFunctions } from '../../tools/live-functions.ts';
import { planRollback } from '../../tools/rollback/plan-rollback.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';
import { changedCopy } from './changed-copy.ts';
import { SLOWNESS } from './emulator-faults.ts';
import { changeEnvironment } from './function-environment.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator, REGION, ROOT_CREDENTIALS } from './operator.ts';

const [GOOD, FAULTY, MENDED] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'] as const;
/** The time of a slow query. It is longer than the query's first request waits. */
const SLOW_MS = 15_000;

const lane = currentLane() as Lane;
const { stage } = lane;
const operate = operator(lane);
const lambda = new LambdaClient({ endpoint: lane.endpoint, region: REGION, credentials: ROOT_CREDENTIALS });
const events = knownEvents(27, 200);

const deploy = (commit: string, flags: readonly string[] = [], directory?: string) =>
  operator(lane, directory).cdk(
    ...([
      'deploy',
      stage,
      '--all',
      '--require-approval',
      'never',
      '-c',
      `commit=${commit}`,
      ...flags,
    ] as const),
  );

/** The question with this number. Another number gives another question. */
const question = (number: number): Question => ({
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: `2026-02-01T00:${String(number).padStart(2, '0')}:00Z`,
});
const expected = (number: number) =>
  expectedReport('publisherperformance', events.publisher_events, question(number));

let service: Service;
beforeAll(async () => {
  service = await startService(events);
});
afterAll(() => service.close());

const pull = (number: number) => service.pull('publisherperformance', question(number));

/**
 * The commits in the header `Service-Version` of the answers at all routes and at an unknown path. If an answer lacks
 * this header, the set has the answer's path, status and text instead.
 */
async function answered(): Promise<ReadonlySet<string>> {
  const address = await operate.apiAddress(stage);
  const versions = new Set<string>();
  // One request after another: the first one starts the function, and the emulator counts the start as running time.
  for (const path of ['/nothing', ...routes.map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'))]) {
    const answer = await fetch(address + path, { redirect: 'manual' });
    const text = await answer.text();
    versions.add(answer.headers.get('service-version') ?? `${path}: ${answer.status} ${text}`);
  }
  return versions;
}

/** The commits to which the aliases lead. The functions without a route are included. */
const live = async () =>
  new Set(
    (await readLiveFunctions(lambda, stage)).map(
      (each) => each.versions.find(({ number }) => number === each.live[0])?.commit,
    ),
  );

/** Runs the check of the latest deployed release. Resolves to the check's status. */
async function checked(): Promise<string> {
  const restore = await changeEnvironment(lane, ['release-check'], { TOKEN_URL: service.stack.tokenUrl });
  const FunctionName = resourceNames(stage).functionName('release-check');
  const { Payload } = await lambda.send(new InvokeCommand({ FunctionName, Payload: '{}' }));
  await restore();
  return JSON.parse(Buffer.from(Payload ?? []).toString()).status;
}

/** Moves the aliases of all functions to a release, as `npm run rollback` does, but faster. */
async function moveTo(commit: string): Promise<void> {
  const { moves } = planRollback(await readLiveFunctions(lambda, stage), commit);
  await Promise.all(
    moves.map(({ name, version }) =>
      lambda.send(
        new UpdateAliasCommand({
          FunctionName: resourceNames(stage).functionName(name),
          Name: LIVE_ALIAS,
          FunctionVersion: String(version),
        }),
      ),
    ),
  );
}

describe('a release with a fault', () => {
  it('fails its release check, and answers 500 to requests for reports', async () => {
    await deploy(GOOD);
    expect(await checked()).toBe('Succeeded');
    expect(await pull(0)).toBe(expected(0));
    await using faulty = await changedCopy('lib/http/report-handler.ts', (source) =>
      source.replace(
        'facts.report = report.name;',
        "$&\n      throw new Error('the fault of this release');",
      ),
    );
    await deploy(FAULTY, [], faulty.directory);
    expect(await answered()).toEqual(new Set([FAULTY]));
    expect(await checked()).toBe('Failed');
    await expect(pull(0)).rejects.toThrow(/^500/);
  });

  it('is rolled back by one command, in every function', async () => {
    const began = Date.now();
    const output = await operate.rollback(stage);
    process.stdout.write(`${output}npm run rollback took ${Math.round((Date.now() - began) / 1_000)} s.\n`);
    expect(output).toMatch(`goes from ${FAULTY} `);
    expect(await live()).toEqual(new Set([GOOD]));
    expect(await answered()).toEqual(new Set([GOOD]));
    expect(await pull(0)).toBe(expected(0));
    expect(await pull(1)).toBe(expected(1));
    expect(await operate.rollback(stage, GOOD)).toContain('already');
  });

  it('is replaced by the next release, which is deployed with the flags that the rollback printed', async () => {
    const output = await operate.rollback(stage, GOOD);
    const [, flags = ''] = RegExp(`npx cdk deploy --all -c stage=${stage}(.*)`).exec(output) ?? [];
    await deploy(MENDED, flags.split(' ').filter(Boolean));
    expect(await live()).toEqual(new Set([MENDED]));
    expect(await answered()).toEqual(new Set([MENDED]));
    expect(await pull(0)).toBe(expected(0));
  });
});

describe('callers who wait', () => {
  /** The ticket that `release` issues for a question. */
  async function ticketOf(number: number, release: string): Promise<URL> {
    const answer = await service.request('publisherperformance', queryOf(question(number)));
    expect([answer.status, answer.headers.get('service-version')]).toEqual([303, release]);
    const ticket = new URL(answer.headers.get('location') ?? '', `${service.stack.apiUrl}/`);
    expect(ticket.pathname).toContain('/reporting/downloads/');
    return ticket;
  }

  /** The file to which a ticket leads. Fails if another release answers the ticket. */
  async function follow(ticket: URL, release: string): Promise<string> {
    const answer = await fetch(ticket, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('service-version')]).toEqual([303, release]);
    return (await fetch(new URL(answer.headers.get('location') ?? '', ticket))).text();
  }

  it('get their files while the live release changes ten times, and no ticket is answered by the release that issued it', async () => {
    service.stack.faults.set([{ on: 'query', match: 'SELECT', delayMs: SLOW_MS / SLOWNESS }]);
    const files: Promise<string>[] = [];
    let ticket: URL | undefined;
    for (let round = 0; round <= 10; round++) {
      const release = round % 2 === 0 ? GOOD : MENDED;
      await moveTo(release);
      if (ticket) files.push(follow(ticket, release));
      if (round < 10) ticket = await ticketOf(10 + round, release);
    }
    expect(await Promise.all(files)).toEqual(files.map((_, round) => expected(10 + round)));
  });
});

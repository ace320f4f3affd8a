/** Takes each action and each folder out of the deployed roles, and checks that the function then fails. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { slotsKey } from '../../lib/results/keys.ts';
import type { Question } from '../e2e/expected-report.ts';
import { freshQuestions } from '../e2e/fresh-questions.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { ownFolder } from '../own-folder.ts';
import { deployedFunctions, responsesFrom, type Statement } from './deployed-functions.ts';
import { changeEnvironment } from './function-environment.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';
import { type PermissionPart, permissionParts, type Situation } from './proven-parts.ts';

const lane = currentLane() as Lane;
const { aws, outputs } = operator(lane);
const { invoke, regrant } = deployedFunctions(lane);
const { publicationRule } = resourceNames(lane.stage);
const reportFunctions = reports.map(({ name }) => name);
const waiting = [...reportFunctions, 'downloads'];

const service = await ownService(knownEvents(3, 200));
const { ResultsBucket: results = '' } = await outputs(lane.stage, 'data');
const folder = await ownFolder();
const [storedRecord, takenSlots] = [join(folder, 'record.json'), join(folder, 'slots.json')];

/** Takes an action or a folder out of the policy of a deployed role. Resolves to a function that puts it back. */
function without(name: string, { sid, part }: PermissionPart): Promise<() => Promise<void>> {
  const isLeft = (value: unknown) => value !== part && !String(value).match(RegExp(`(^|[/:])${part}\\*$`));
  // The lists in a statement are its actions, its resources and the prefixes of its condition.
  const less = (statement: Statement) =>
    JSON.parse(JSON.stringify(statement), (_, value) =>
      Array.isArray(value) ? value.filter(isLeft) : value,
    );
  return regrant(name, (statement) => (statement['Sid'] === sid ? less(statement) : statement));
}

const freshQuestion = freshQuestions();

const ask = (report: string, question: Question) => {
  const metric = report === 'publisherperformance' ? 'Clicks' : 'Spend';
  return service.request(report, queryOf(question).replace('Clicks', metric));
};
async function followed(first: Response): Promise<number> {
  let { status } = first;
  for await (const { response } of responsesFrom(service, first)) status = response.status;
  return status;
}
const reportOf = (name: string) => (name === 'downloads' ? 'publisherperformance' : name);
const pull = async (name: string) => followed(await ask(reportOf(name), freshQuestion()));
/** The status of the first pull that fails, or 200. The function `downloads` serves all reports: it must pull all. */
const pullAll = async (name: string) => {
  const names = name === 'downloads' ? reportFunctions : [name];
  const statuses = await Promise.all(names.map(pull));
  return statuses.find((status) => status !== 200) ?? 200;
};

const large = new Map<string, { question: Question; next: string }>();
const empty = (folder: string) => aws('s3', 'rm', '--recursive', '--quiet', `s3://${results}/${folder}`);

/**
 * Asks for a large report until its publication is requested. Resolves to the question and the URL where its caller
 * waits.
 */
async function askForLarge(report: string) {
  const question = freshQuestion();
  const isRequested = async () =>
    (await aws('s3', 'ls', `s3://${results}/publications/`).catch(() => '')).length;
  const before = await isRequested();
  for await (const { url, response } of responsesFrom(service, await ask(report, question))) {
    const body = await response.text();
    if (response.status !== 303) throw new Error(`The large report is answered ${response.status}: ${body}`);
    const next = new URL(response.headers.get('location') ?? '', url).href;
    if ((await isRequested()) > before) return { question, next };
  }
  throw new TypeError('a redirect leads on');
}

/** Sends the next request of a caller whose large report is not published. Resolves to the status. */
async function stepOfLarge(name: string): Promise<number> {
  const known = large.get(name);
  if (name !== 'downloads') return (await ask(name, known?.question as Question)).status;
  const response = await fetch(known?.next ?? '', { redirect: 'manual' });
  if (known && response.status === 303)
    known.next = new URL(response.headers.get('location') ?? '', known.next).href;
  return response.status;
}

/** Functions, and variables of theirs. */
type Setting = readonly [functions: readonly string[], variables: Readonly<Record<string, string>>];

/** A first request waits only this long, so its caller is sent to the waiting room. */
const SHORT_WAIT = { QUERY_WAIT_MS: '2000' };

const queriesTake = (delayMs: number) => async () => service.stack.faults.set([{ on: 'query', delayMs }]);

const publication = { executionId: '', record: '', event: {} };

interface Trial {
  readonly settings?: readonly Setting[];
  readonly prepare?: () => Promise<void>;
  /** Runs each time before the functions are tried with `act`. */
  readonly reset?: () => Promise<unknown>;
  /** Calls the function, or pulls the report that it serves; resolves to the status. */
  readonly act: (name: string) => Promise<number>;
  readonly works: number;
}

const trials: Readonly<Record<Situation, Trial>> = {
  report: { prepare: queriesTake(0), act: pull, works: 200 },
  'waiting room': { settings: [[waiting, SHORT_WAIT]], prepare: queriesTake(800), act: pullAll, works: 200 },
  share: {
    settings: [[waiting, { ...SHORT_WAIT, QUERIES_PER_PARTNER: '1' }]],
    prepare: queriesTake(600),
    act: async (name) => {
      const key = `s3://${results}/${slotsKey(service.stack.clientId)}`;
      const slot = { id: 'other', record: 'jobs/other/other.json', heldMs: 0 };
      await writeFile(takenSlots, JSON.stringify({ form: 2, slots: [slot] }));
      await aws('s3', 'cp', '--quiet', takenSlots, key);
      const first = await ask(reportOf(name), freshQuestion());
      await aws('s3', 'rm', '--quiet', key);
      return first.headers.get('location')?.includes('/downloads/') ? followed(first) : -first.status;
    },
    works: 200,
  },
  'stopped query': {
    settings: [[reportFunctions, { LONGEST_QUERY_MS: '3000' }]],
    prepare: queriesTake(4_000),
    act: pull,
    works: 503,
  },
  'query stopped in the waiting room': {
    settings: [
      [reportFunctions, { ...SHORT_WAIT, LONGEST_QUERY_MS: '3000' }],
      [['downloads'], { LONGEST_QUERY_MS: '3000' }],
    ],
    prepare: queriesTake(4_000),
    act: pull,
    works: 503,
  },
  'publication under way': {
    settings: [[waiting, SHORT_WAIT]],
    prepare: async () => {
      service.stack.faults.set([{ on: 'query', resultBytes: 20_000_000 }]);
      // While this rule is disabled, no publication begins.
      await aws('events', 'disable-rule', '--name', publicationRule);
      for (const name of waiting) large.set(name, await askForLarge(reportOf(name)));
    },
    act: stepOfLarge,
    works: 303,
  },
  'publication to ask for': {
    settings: [[waiting, SHORT_WAIT]],
    reset: () => empty('publications/'),
    act: stepOfLarge,
    works: 303,
  },
  publishing: {
    prepare: async () => {
      const listed = await aws('s3', 'ls', '--recursive', `s3://${results}/publications/`);
      const key = listed.trim().split('\n').at(-1)?.split(' ').at(-1) ?? '';
      const { executionId, record } = JSON.parse(await aws('s3', 'cp', `s3://${results}/${key}`, '-'));
      await writeFile(storedRecord, await aws('s3', 'cp', `s3://${results}/${record}`, '-'));
      Object.assign(publication, { executionId, record, event: { detail: { object: { key } } } });
      await aws('events', 'enable-rule', '--name', publicationRule);
    },
    reset: unpublished,
    act: async () => ((await invoke('publish', publication.event)) ? 200 : 500),
    works: 200,
  },
  'giving up': {
    reset: unpublished,
    async act() {
      const requestContext = { condition: 'RetriesExhausted' };
      return (await invoke('abandon', { requestContext, requestPayload: publication.event })) ? 200 : 500;
    },
    works: 200,
  },
};

/** Restores the state before the first publication: there is no file, and the record names none. */
async function unpublished(): Promise<void> {
  const { record, executionId } = publication;
  await aws('s3', 'cp', '--quiet', storedRecord, `s3://${results}/${record}`);
  await empty(`reports/${executionId}/`);
}

describe.each(Object.entries(trials))('%s', (situation, { settings = [], prepare, reset, act, works }) => {
  const restores: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    for (const [names, variables] of settings) restores.push(await changeEnvironment(lane, names, variables));
    await prepare?.();
    expect(await answers(functions)).toEqual(functions.map(() => works));
  });
  afterAll(async () => {
    for (const restore of restores.reverse()) await restore();
  });
  const parts = permissionParts.filter((part) => part.situation === situation);
  const functions = [...new Set(parts.flatMap((part) => part.functions))];

  // A busy machine leads to a 503, and an action that IAM denies to a 500.
  const answer = async (name: string, triesLeft = 5): Promise<number> => {
    const status = await act(name);
    return status === 503 && works !== 503 && triesLeft > 1 ? answer(name, triesLeft - 1) : status;
  };
  const answers = async (names: readonly string[]) => {
    await reset?.();
    return Promise.all(names.map((name) => answer(name)));
  };

  it.each(parts.map((part) => [part.functions.join(', '), part.sid, part.part, part] as const))(
    '%s does not work without %s %s',
    async (_, __, ___, part) => {
      const restores = await Promise.all(part.functions.map((name) => without(name, part)));
      try {
        expect(await answers(part.functions)).toEqual(part.functions.map(() => 500));
      } finally {
        await Promise.all(restores.map((restore) => restore()));
      }
    },
  );

  it('each function works again once its policy is whole again', async () => {
    expect(await answers(functions)).toEqual(functions.map(() => works));
  });
});

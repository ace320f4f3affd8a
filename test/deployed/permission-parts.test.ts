/** Takes each action and each folder out of the deployed roles, and checks that the function then fails. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { slotsKey } from '../../lib/results/keys.ts';
import type { Question } from '../e2e/expected-report.ts';
import { freshQuestions } from '../e2e/fresh-questions.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';
import { changeEnvironment } from './function-environment.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';
import { permissionParts, type Situation } from './proven-parts.ts';

const lane = currentLane() as Lane;
const { aws, outputs } = operator(lane);
const functionName = (name: string) => `performance-reports-${lane.stage}-${name}`;
const { publicationRule } = resourceNames(lane.stage);
const reportFunctions = reports.map(({ name }) => name);
const waiting = [...reportFunctions, 'downloads'];

let service: Service;
let results: string;
let directory: string;
const policies = new Map<string, Policy>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parts-'));
  service = await startService(knownEvents(3, 200));
  results = (await outputs(lane.stage, 'data'))['ResultsBucket'] ?? '';
  for (const name of [...waiting, 'publish', 'abandon']) policies.set(name, await policyOf(name));
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

type Statement = Readonly<Record<string, unknown>>;

interface Policy {
  readonly command: readonly string[];
  readonly document: { readonly Version: string; readonly Statement: readonly Statement[] };
}

async function policyOf(name: string): Promise<Policy> {
  const { Configuration } = JSON.parse(
    await aws('lambda', 'get-function', '--function-name', functionName(name), '--output', 'json'),
  );
  const command = ['--role-name', Configuration.Role.split('/').at(-1), '--policy-name', 'permissions'];
  const { PolicyDocument } = JSON.parse(await aws('iam', 'get-role-policy', ...command, '--output', 'json'));
  return { command, document: PolicyDocument };
}

/** Gives a deployed role its policy, without the action or folder that `missing` names. */
async function grant(name: string, missing?: { readonly sid: string; readonly part: string }): Promise<void> {
  const { command, document } = policies.get(name) as Policy;
  const isLeft = (value: unknown) =>
    value !== missing?.part && !String(value).match(RegExp(`(^|[/:])${missing?.part}\\*$`));
  // The lists in a statement are its actions, its resources and the prefixes of its condition.
  const less = (statement: Statement) =>
    JSON.parse(JSON.stringify(statement), (_, value) =>
      Array.isArray(value) ? value.filter(isLeft) : value,
    );
  const Statement = document.Statement.map((statement) =>
    missing && statement['Sid'] === missing.sid ? less(statement) : statement,
  );
  if (missing) expect(Statement).not.toEqual(document.Statement);
  const policy = JSON.stringify({ ...document, Statement });
  await aws('iam', 'put-role-policy', ...command, '--policy-document', policy);
}

const freshQuestion = freshQuestions();

const ask = (report: string, question: Question) =>
  service.request(
    report,
    queryOf(question).replace('Clicks', report === 'publisherperformance' ? 'Clicks' : 'Spend'),
  );
async function followed(first: Response): Promise<number> {
  let response = first;
  for (let url = `${service.stack.apiUrl}/`; response.status === 303; ) {
    url = new URL(response.headers.get('location') ?? '', url).href;
    response = await fetch(url, { redirect: 'manual' });
  }
  return response.status;
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
  let next = `${service.stack.apiUrl}/`;
  let response = await ask(report, question);
  for (;;) {
    const body = await response.text();
    if (response.status !== 303) throw new Error(`The large report is answered ${response.status}: ${body}`);
    next = new URL(response.headers.get('location') ?? '', next).href;
    if ((await isRequested()) > before) return { question, next };
    response = await fetch(next, { redirect: 'manual' });
  }
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

type Settings = readonly (readonly [
  functions: readonly string[],
  variables: Readonly<Record<string, string>>,
])[];

/** A first request waits only this long, so its caller is sent to the waiting room. */
const SHORT_WAIT = { QUERY_WAIT_MS: '2000' };

async function slowQueries(): Promise<void> {
  service.stack.faults.set([{ on: 'query', delayMs: 4_000 }]);
}

const publication = { executionId: '', record: '' };

interface Trial {
  readonly settings?: Settings;
  readonly prepare?: () => Promise<void>;
  /** Runs each time before the functions are tried with `act`. */
  readonly reset?: () => Promise<unknown>;
  /** Calls the function, or pulls the report that it serves; resolves to the status. */
  readonly act: (name: string) => Promise<number>;
  readonly works: number;
}

const trials: Readonly<Record<Situation, Trial>> = {
  report: {
    prepare: async () => {
      service.stack.faults.set([]);
    },
    act: pull,
    works: 200,
  },
  'waiting room': {
    settings: [[waiting, SHORT_WAIT]],
    prepare: async () => {
      service.stack.faults.set([{ on: 'query', delayMs: 800 }]);
    },
    act: pullAll,
    works: 200,
  },
  share: {
    settings: [[waiting, { ...SHORT_WAIT, QUERIES_PER_PARTNER: '1' }]],
    prepare: async () => {
      service.stack.faults.set([{ on: 'query', delayMs: 600 }]);
    },
    act: async (name) => {
      const key = `s3://${results}/${slotsKey(service.stack.clientId)}`;
      const taken = join(directory, 'slots.json');
      const slot = { id: 'other', record: 'jobs/other/other.json', heldMs: 0 };
      await writeFile(taken, JSON.stringify({ form: 2, slots: [slot] }));
      await aws('s3', 'cp', '--quiet', taken, key);
      const first = await ask(reportOf(name), freshQuestion());
      await aws('s3', 'rm', '--quiet', key);
      return first.headers.get('location')?.includes('/downloads/') ? followed(first) : -first.status;
    },
    works: 200,
  },
  'stopped query': {
    settings: [[reportFunctions, { LONGEST_QUERY_MS: '3000' }]],
    prepare: slowQueries,
    act: pull,
    works: 503,
  },
  'query stopped in the waiting room': {
    settings: [
      [reportFunctions, { ...SHORT_WAIT, LONGEST_QUERY_MS: '3000' }],
      [['downloads'], { LONGEST_QUERY_MS: '3000' }],
    ],
    prepare: slowQueries,
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
      await writeFile(
        join(directory, 'record.json'),
        await aws('s3', 'cp', `s3://${results}/${record}`, '-'),
      );
      await writeFile(join(directory, 'event.json'), JSON.stringify({ detail: { object: { key } } }));
      Object.assign(publication, { executionId, record });
      await aws('events', 'enable-rule', '--name', publicationRule);
    },
    reset: unpublished,
    act: () => invoke('publish', 'event.json'),
    works: 200,
  },
  'giving up': {
    prepare: async () => {
      const requestPayload = JSON.parse(await readFile(join(directory, 'event.json'), 'utf8'));
      const event = { requestContext: { condition: 'RetriesExhausted' }, requestPayload };
      await writeFile(join(directory, 'given-up.json'), JSON.stringify(event));
    },
    reset: unpublished,
    act: () => invoke('abandon', 'given-up.json'),
    works: 200,
  },
};

/** Restores the state before the first publication: there is no file, and the record names none. */
async function unpublished(): Promise<void> {
  const { record, executionId } = publication;
  await aws('s3', 'cp', '--quiet', join(directory, 'record.json'), `s3://${results}/${record}`);
  await empty(`reports/${executionId}/`);
}

async function invoke(name: string, event: string): Promise<number> {
  const target = ['--function-name', functionName(name), '--payload', `fileb://${join(directory, event)}`];
  const answer = await aws('lambda', 'invoke', ...target, join(directory, 'answer.json'));
  return answer.includes('FunctionError') ? 500 : 200;
}

describe.each(Object.entries(trials))('%s', (situation, { settings = [], prepare, reset, act, works }) => {
  const restores: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    for (const [names, variables] of settings) restores.push(await changeEnvironment(lane, names, variables));
    await prepare?.();
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

  it('each function works with its whole policy', async () => {
    expect(await answers(functions)).toEqual(functions.map(() => works));
  });

  it.each(parts.map((part) => [part.functions.join(', '), part.sid, part.part, part] as const))(
    '%s does not work without %s %s',
    async (_, __, ___, part) => {
      await Promise.all(part.functions.map((name) => grant(name, part)));
      try {
        expect(await answers(part.functions)).toEqual(part.functions.map(() => 500));
      } finally {
        await Promise.all(part.functions.map((name) => grant(name)));
      }
    },
  );

  it('each function works again once its policy is whole again', async () => {
    expect(await answers(functions)).toEqual(functions.map(() => works));
  });
});

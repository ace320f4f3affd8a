/** Runs every shell block of docs/runbook.md as it is written there. */
import { describe, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { settingsOf } from '../../lib/function-settings.ts';
import { accessToken } from '../../local/access-token.ts';
import { runbookBlocks } from '../docs/runbook-blocks.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { ownFolder } from '../own-folder.ts';
import { CONTACT, clientIn } from './add-house.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';
import { stages } from './stages.ts';

const lane = currentLane() as Lane;
const { apiAddress, aws, cdk, doctor, json, outputs, partner, shell, text } = operator(lane);
const { database, functionName, service: name } = resourceNames(lane.stage);
const blocks = runbookBlocks();
const folder = await ownFolder();

/**
 * Blocks that can't run here: the emulator has only one secret for each client, its AWS Backup copies nothing, and no
 * way back of a stack fails in it, because it makes a function that is missing.
 */
const NOT_HERE = ['new-secret.sh', 'restore-the-register.sh', 'continue-rollback.sh'];
const ran = new Set<string>();

/** Runs a block of the runbook after `shell.sh`, with these variables. Resolves to the block's output. */
async function run(name: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  ran.add(name);
  return shell(`${blocks.get('shell.sh')}\n${blocks.get(name)}`, { STAGE: lane.stage, ...variables });
}

const NAME = 'runbook-partner';
const events = knownEvents(11, 300);
const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const question: Question = { fields: ['Day', 'Clicks', 'Revenue'], ...january };
const report = expectedReport('publisherperformance', events.publisher_events, question);

const service = await ownService(events);
const { EventsBucket = '', PartnersBucket = '', ResultsBucket = '' } = await outputs(lane.stage, 'data');
const client = clientIn(
  await partner('add', lane.stage, NAME, '--publisher-companies', 'every-company', ...CONTACT),
);
const token = await accessToken({ ...service.stack, ...client });

const ask = (query: string, redirect: 'follow' | 'manual' = 'follow') =>
  service.request('publisherperformance', query, { redirect, headers: { Authorization: `Bearer ${token}` } });
const get = (redirect?: 'manual') => ask(queryOf(question), redirect);
const pulled = async () => (await get()).text();

/** The id of the query execution that made the report's file, read from the file's key. */
async function queryOfReport(): Promise<string> {
  const listed = await aws('s3', 'ls', '--recursive', `s3://${ResultsBucket}/reports/`);
  const [, id = ''] = /reports\/([\w-]+)\//.exec(listed) ?? [];
  return id;
}

/** A function keeps the register's records for a minute. The rest of the timeout is for the requests. */
const MINUTE = { timeout: 75_000, interval: 2_000 };

describe('a request', () => {
  it('is found in the logs by the instance of its problem', async () => {
    const { instance } = (await (await ask('requestedFields=Click')).json()) as { instance: string };
    const REQUEST = instance.replace('urn:uuid:', '');
    // A function's line takes a moment to reach the logs.
    await expect
      .poll(() => run('one-request.sh', { REQUEST }), MINUTE)
      .toMatch(/"message":"request".*"status":400/);
  });

  it('leads to the state and the SQL of its query', async () => {
    expect((await get('manual')).status).toBe(303);
    const QUERY = await queryOfReport();
    expect(await run('its-query.sh', { QUERY })).toContain('SUCCEEDED');
    expect(await run('its-sql.sh', { QUERY })).toContain('FROM publisher_events');
  });

  it('has its report listed among its partner’s pulls, and its partner listed among those that scan', async () => {
    const PARTNER = NAME;
    expect(await run('of-which-data.sh', { PARTNER })).toContain('publisherperformance');
    expect(await run('what-was-pulled.sh', { PARTNER })).toContain('publisherperformance');
    expect(await run('who-scans.sh')).toContain(NAME);
  });
});

describe('a day', () => {
  const days = events.publisher_events.map((row) => String(row['event_time']).slice(0, 10));
  const DAY = days.find((day) => day > '2026-01-01' && day < '2026-02-01') ?? '';
  const PREFIX = `publisher_events/day=${DAY}/`;

  it('has its files listed and its table checked by blocks of the runbook', async () => {
    expect(await run('files-of-the-day.sh', { DAY })).toContain(PREFIX);
    expect(await run('check-the-lake.sh')).toContain('publisher_events');
  });

  it('gets back the files that were deleted, and the earlier version of a file that was overwritten', async () => {
    // A file that was deleted on purpose must stay deleted, so it is deleted in an earlier second than the others.
    await aws('s3api', 'put-object', '--bucket', EventsBucket, '--key', `${PREFIX}restated.parquet`);
    await aws('s3', 'rm', `s3://${EventsBucket}/${PREFIX}restated.parquet`);
    const second = () => new Date().toISOString().slice(0, 19);
    const restatedAt = second();
    await expect.poll(second, { timeout: 60_000 }).not.toBe(restatedAt);
    const SINCE = second();
    await aws('s3', 'rm', '--recursive', `s3://${EventsBucket}/${PREFIX}`);
    expect(await pulled()).not.toBe(report);
    await run('undelete.sh', { PREFIX, SINCE });
    expect(await run('files-of-the-day.sh', { DAY })).not.toContain('restated');
    expect(await pulled()).toBe(report);

    const latest = ['--prefix', PREFIX, '--query', 'Versions[?IsLatest].[Key,VersionId]'];
    const listed = await text('s3api list-object-versions --bucket', EventsBucket, ...latest);
    const [KEY = '', VERSION = ''] = listed.split(/\s+/);
    await aws('s3api', 'put-object', '--bucket', EventsBucket, '--key', KEY);
    await run('bring-a-version-back.sh', { KEY, VERSION });
    expect(await pulled()).toBe(report);
  });
});

describe('a file', () => {
  it('is downloaded by a presigned URL made by hand', async () => {
    const told = await run('a-link-by-hand.sh', { QUERY: await queryOfReport() });
    const answer = await fetch(told.trim().split('\n').at(-1) ?? '');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/^"Day"/);
  });

  it('is made again after it was dropped', async () => {
    const QUERY = await queryOfReport();
    // The script finds the report's records by the job that the log's lines name.
    await expect.poll(() => run('one-request.sh', { REQUEST: QUERY }), MINUTE).toContain('"job":"');
    await run('drop-one-report.sh', { QUERY });
    expect(await pulled()).toBe(report);
  });

  it('is deleted with all other files of its partner: an earlier link answers 404, and the next request makes the file again', async () => {
    const link = (await get('manual')).headers.get('location') ?? '';
    expect((await fetch(link)).status).toBe(200);
    // The script finds the partner's reports by lines in the logs, which take a moment to arrive.
    const REQUEST = /\/reports\/([\w-]+)\//.exec(link)?.[1] ?? '';
    await expect.poll(() => run('one-request.sh', { REQUEST }), MINUTE).toContain('"job":"');
    await run('delete-reports.sh', { PARTNER: NAME });
    expect((await fetch(link)).status).toBe(404);
    expect(await pulled()).toBe(report);
  });
});

describe('the service', () => {
  it('can be stopped, even twice, and starts again with its deployed settings', async () => {
    await run('stop-everything.sh');
    await run('stop-everything.sh');
    const stopped = functionName('publisherperformance');
    const invoked = aws('lambda', 'invoke', '--function-name', stopped, '/dev/null');
    await expect(invoked).rejects.toThrow('TooManyRequestsException');
    const state = () => text('athena get-work-group --query WorkGroup.State --work-group', name);
    expect(await state()).toBe('DISABLED');
    await run('start-again.sh');
    expect(await state()).toBe('ENABLED');
    const reservation = async (of: string) =>
      (await json('lambda get-function-concurrency --function-name', functionName(of)))
        .ReservedConcurrentExecutions;
    expect(await reservation('publish')).toBe(stages[lane.stage]?.reservedConcurrency?.publish);
    expect(await reservation('abandon')).toBeUndefined();
    await expect.poll(async () => (await get('manual')).status, MINUTE).toBe(303);
  });

  it('gets a scan limit of 10 GB for each query', async () => {
    await run('cap-queries.sh');
    expect(await aws('athena', 'get-work-group', '--work-group', name)).toContain('10000000000');
  });

  it('restarts its functions as a new release, is rolled back, and can then be deployed as usual', async () => {
    const release = async () => (await get('manual')).headers.get('service-version');
    const deployed = await release();
    await run('start-functions-anew.sh');
    expect(await release()).toMatch(/^[0-9a-f]{12}-anew-\d{8}T\d{4}Z-[0-9a-f]{6}$/);
    expect(await pulled()).toBe(report);
    await run('roll-back.sh', { API_URL: await apiAddress(lane.stage) });
    expect(await release()).toBe(deployed);
    await cdk('deploy', lane.stage, '--all', '--require-approval', 'never');
    expect(await release()).toBe(deployed);
    expect(await pulled()).toBe(report);
  });

  it('gets another client and secret for the probe', async () => {
    const [SECRET = ''] = (await text('secretsmanager list-secrets --query SecretList[].ARN')).split(/\s+/);
    const value = () => text('secretsmanager get-secret-value --query SecretString --secret-id', SECRET);
    const before = await value();
    await run('probe-secret.sh', { SECRET, CLIENT: 'a', NEW_SECRET: 'b' });
    expect(JSON.parse(await value())).toEqual({ clientId: 'a', clientSecret: 'b' });
    await aws('secretsmanager', 'put-secret-value', '--secret-id', SECRET, '--secret-string', before);
  });
});

describe('a request to publish a large report', () => {
  it('is sent again from the queue of lost events, whether EventBridge or Lambda put it into the queue', async () => {
    const listed = async (prefix: string) =>
      (await aws('s3', 'ls', '--recursive', `s3://${ResultsBucket}/${prefix}`).catch(() => '')).trim();
    service.stack.faults.set([{ on: 'query', resultBytes: 40_000_000 }]);
    const large = { ...question, fields: ['Day', 'ServedAds'] };
    const answer = await ask(queryOf(large));
    service.stack.faults.set([]);
    expect(answer.status).toBe(200);
    const key = (await listed('publications/')).split(/\s+/).at(-1) ?? '';
    const files = `reports/${key.replace(/^publications\/|\.json$/g, '')}/`;
    const published = (await listed(files)).split('\n').length;

    const event = { detail: { object: { key } } };
    const url = await text('sqs get-queue-url --query QueueUrl --queue-name', `${name}-lost-events`);
    for (const body of [event, { requestPayload: { requestPayload: event } }]) {
      await aws('s3', 'rm', '--recursive', '--quiet', `s3://${ResultsBucket}/${files}`);
      const message = ['--message-body', JSON.stringify(body)];
      await aws('sqs', 'send-message', '--queue-url', url, ...message);
      await run('resend-lost-events.sh');
      await expect.poll(async () => (await listed(files)).split('\n').length, MINUTE).toBe(published);
    }
    const { Attributes } = await json('sqs get-queue-attributes --attribute-names All --queue-url', url);
    const none = { ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' };
    expect(Attributes).toMatchObject(none);
  });
});

describe('something that was changed by hand', () => {
  const statusOf = async (...fields: string[]) => (await ask(queryOf({ ...question, fields }))).status;

  it('is named by doctor, if it is a deleted table, which is then made again', async () => {
    await aws('glue', 'delete-table', '--database-name', database, '--name', 'publisher_events');
    expect(await statusOf('Day', 'Opens')).toBe(500);
    expect(await doctor(lane.stage)).toContain(`The database ${database} lacks publisher_events`);
    await run('make-tables-again.sh');
    expect(await doctor(lane.stage)).not.toContain('lacks');
    expect(await statusOf('Day', 'Opens', 'Clicks')).toBe(200);
  });

  it('is named by cdk drift, if it is a setting', async () => {
    const changed = functionName('public');
    const memory = (size: string) =>
      json('lambda update-function-configuration --memory-size', size, '--function-name', changed);
    await memory('333');
    expect(await run('what-drifted.sh')).toMatch(/MemorySize[\s\S]*333/);
    await memory(String(settingsOf('public').memoryMb));
  });
});

describe('the results bucket', () => {
  it('delivers again after somebody has removed its reports', async () => {
    expect(await pulled()).toBe(report);
    await aws('s3', 'rm', '--recursive', '--quiet', `s3://${ResultsBucket}/reports/`);
    expect((await get()).status).toBe(404);
    await run('drop-all-records.sh');
    expect(await pulled()).toBe(report);
  });
});

describe('the register of partners', () => {
  it('is restored from its versions', async () => {
    const SINCE = new Date().toISOString().slice(0, 19);
    await aws('s3', 'rm', '--recursive', '--quiet', `s3://${PartnersBucket}/`);
    expect(await doctor(lane.stage)).toContain('The register of partners is empty');
    await run('undelete.sh', { BUCKET: PartnersBucket, PREFIX: '', SINCE });
    expect(await doctor(lane.stage)).not.toMatch(/register of partners is empty|without a record/);
  });

  it('is restored from a saved copy', async () => {
    await run('save-the-register.sh', { SAVED: folder });
    await aws('s3', 'rm', '--recursive', `s3://${PartnersBucket}/`);
    await expect.poll(async () => (await get('manual')).status, MINUTE).toBe(401);
    await run('bring-the-register-back.sh', { SAVED: folder });
    await expect.poll(async () => (await get('manual')).status, MINUTE).toBe(303);
  });
});

describe('a partner', () => {
  it('is cut off within a minute', async () => {
    expect((await get('manual')).status).toBe(303);
    await run('cut-off.sh', { PARTNER: NAME });
    await expect.poll(async () => (await get('manual')).status, MINUTE).toBe(401);
  });
});

it('every block of the runbook has run in these tests, except the blocks that can’t run here', () => {
  expect([...ran, ...NOT_HERE, 'shell.sh'].sort()).toEqual([...blocks.keys()].sort());
});

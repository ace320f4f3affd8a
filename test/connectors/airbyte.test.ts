import { cp, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it } from 'vitest';
import { reportOf, reports } from '../../lib/report/catalogue.ts';
import { pythonWith } from '../clients/python.ts';
import { runProgram } from '../clients/run-program.ts';
import { readGuide } from '../clients/snippet.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService } from '../e2e/service.ts';
import { folderOfEach } from '../own-folder.ts';

const folder = new URL('../../connectors/airbyte/', import.meta.url);
const guide = await readGuide('../connectors/airbyte/README.md');
const version = /^version: (.+)$/m.exec(await readFile(new URL('manifest.yaml', folder), 'utf8'))?.[1];
const python = await pythonWith('airbyte-cdk', [`airbyte-cdk==${version}`]);

const events = knownEvents(11, 2_000);
const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '400' } });
const directory = folderOfEach();
beforeEach(async () => {
  service.stack.faults.set([]);
  await cp(new URL('manifest.yaml', folder), join(directory(), 'manifest.yaml'));
});

/** The settings of the guide, with the service's addresses and client. */
async function settings(): Promise<Record<string, unknown>> {
  const { apiUrl: api_url, tokenUrl: token_url, clientId, clientSecret, scope } = service.stack;
  const printed = JSON.parse(await readFile(await guide.write('config.json', directory()), 'utf8'));
  return { ...printed, api_url, token_url, client_id: clientId, client_secret: clientSecret, scope };
}

type Command = 'check.sh' | 'discover.sh' | 'read.sh';

/** Runs a command of the guide with these settings; resolves to its messages, even if it fails. */
async function run(command: Command, more: Record<string, unknown> = {}): Promise<Message[]> {
  await guide.write('catalog.json', directory());
  await writeFile(join(directory(), 'config.json'), JSON.stringify({ ...(await settings()), ...more }));
  const PATH = `${dirname(python as string)}${delimiter}${process.env['PATH']}`;
  const program = await guide.write(command, directory());
  return messagesOf(await runProgram('sh', [program], { cwd: directory(), env: { PATH } }).catch(String));
}

/** A value of a row. An integer is kept as digits, because JavaScript's numbers are exact only up to 2^53. */
type Value = string | { readonly digits: string };
type Row = Readonly<Record<string, Value>>;

interface Stream {
  readonly name: string;
  readonly json_schema: { readonly properties: object };
  readonly supported_sync_modes: readonly string[];
}

interface Message {
  readonly type: string;
  readonly connectionStatus?: { readonly status: string; readonly message?: string };
  readonly catalog?: { readonly streams: readonly Stream[] };
  readonly record?: { readonly stream: string; readonly data: Row };
  readonly log?: { readonly message: string };
  readonly trace?: { readonly error?: { readonly message: string } };
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?/g;
const messagesOf = (printed: string): Message[] =>
  printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) =>
      JSON.parse(
        line.replace(TEXT_OR_NUMBER, (found) => (found.startsWith('"') ? found : `{"digits":"${found}"}`)),
      ),
    );

const statusOf = (messages: readonly Message[]) =>
  messages.find(({ connectionStatus }) => connectionStatus)?.connectionStatus;
const logOf = (messages: readonly Message[]) => messages.flatMap(({ log }) => log?.message ?? []);
const errorsOf = (messages: readonly Message[]) =>
  messages.flatMap(({ trace }) => trace?.error?.message ?? []);
const rowsOf = (messages: readonly Message[], stream: string) =>
  sorted(messages.flatMap(({ record }) => (record?.stream === stream ? [record.data] : [])));
/**
 * Rows as texts, sorted because slices are read in parallel. Nulls are removed, because only the Connector Builder's
 * program prints them.
 */
const sorted = (rows: readonly Row[]) =>
  rows.map((row) => JSON.stringify(row, (_, value: unknown) => value ?? undefined)).sort();

const INTEGER = /Id$|^(ServedAds|Opens|Clicks|Impressions|Conversions)$/;

/** The rows of a CSV as Airbyte must give them: without empty values, and with line feeds for carriage returns. */
function rowsOfCsv(csv: string): string[] {
  const typed = (name: string, text: string): Value =>
    INTEGER.test(name) ? { digits: text } : text.replace(/\r\n?/g, '\n');
  const rows: Record<string, string>[] = parse(csv, { columns: true, record_delimiter: '\n' });
  return sorted(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([, text]) => text !== '')
          .map(([name, text]) => [name, typed(name, text)]),
      ),
    ),
  );
}

const expectedRows = (report: string, question: Question) =>
  rowsOfCsv(expectedReport(report, events[reportOf(report)?.table ?? ''] ?? [], question));
const expectRows = (
  messages: readonly Message[],
  report: string,
  { fields, ...question }: Omit<Question, 'fields'> & { readonly fields: string },
) =>
  expect(rowsOf(messages, report)).toEqual(expectedRows(report, { ...question, fields: fields.split(',') }));

const SCHEMAS: Readonly<Record<string, object>> = {
  integer: { type: ['null', 'integer'] },
  string: { type: ['null', 'string'] },
  float: { type: ['null', 'string'] },
  datetime: { type: ['null', 'string'], format: 'date-time' },
};

const PUBLISHER_FIELDS =
  'Day,PlacementId,ContainerId,PublisherCompanyId,DeviceOrProxy,ServedAds,Opens,Clicks,Revenue';
const ADVERTISER_FIELDS = 'DateTime,CampaignId,DemandOrigin,Impressions,Conversions,ConversionRevenue,Spend';

describe.runIf(python)('the Airbyte manifest', () => {
  it('names the version of airbyte-cdk that the guide installs', async () => {
    expect(await readFile(await guide.write('install.sh', directory()), 'utf8')).toContain(
      `install airbyte-cdk==${version}\n`,
    );
  });

  it('is checked with valid settings', async () => {
    expect(statusOf(await run('check.sh'))).toEqual({ status: 'SUCCEEDED' });
  });

  it.each([
    ['a wrong secret', { client_secret: 'wrong' }, 'Provider error: invalid_client'],
    [
      'a wrong scope',
      { scope: 'api://other/.default' },
      'Not authorized: Not authorized to this endpoint. Its scope is api://performance-reports/.default',
    ],
    [
      'an end before the start',
      { end: '2025-01-01T00:00:00Z' },
      'Invalid request: endExclusive: Must be later than',
    ],
    ['a single field', { publisher_fields: 'Day' }, `Config validation error: 'Day'`],
  ])('fails its check with %s and says why', async (_, wrong, reason) => {
    const status = statusOf(await run('check.sh', wrong));
    expect(status?.status).toBe('FAILED');
    expect(status?.message).toContain(reason);
  });

  it.each([
    ['all fields', () => true],
    ['some fields', (name: string) => name.includes('e')],
  ])(
    'discovers %s with the types of the catalogue, but amounts with the type of a text',
    async (_, isAskedFor) => {
      const [publisher = [], advertiser = []] = reports.map(({ fields }) =>
        fields.filter(({ name }) => isAskedFor(name)),
      );
      const namesOf = (fields: typeof publisher) => fields.map(({ name }) => name).join(',');
      const fields = { publisher_fields: namesOf(publisher), advertiser_fields: namesOf(advertiser) };
      const messages = await run('discover.sh', fields);
      const streams = messages.find(({ catalog }) => catalog)?.catalog?.streams ?? [];
      const properties = streams.map(({ name, json_schema }) => [name, json_schema.properties] as const);
      const schemasOf = (fields: typeof publisher) =>
        Object.fromEntries(fields.map(({ name, type }) => [name, SCHEMAS[type]]));
      const text = { type: 'string' };
      expect(Object.fromEntries(properties)).toMatchObject({
        publisherperformance: schemasOf(publisher),
        advertiserperformance: schemasOf(advertiser),
        days: {
          ...{ report: text, day: { ...text, format: 'date' }, state: text, version: text },
          ...{ startInclusive: { format: 'date-time' }, endExclusive: { format: 'date-time' } },
        },
      });
      const counts = properties.map(([, fields]) => Object.keys(fields).length);
      expect(counts).toEqual([publisher.length, advertiser.length, 6]);
      for (const stream of streams) expect(stream.supported_sync_modes).toEqual(['full_refresh']);
    },
  );

  it('pulls the reports of the guide, up to the last midnight', async () => {
    const messages = await run('read.sh');
    expect(errorsOf(messages)).toEqual([]);
    const window = { start: '2026-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' };
    const filters = { DeviceOrProxy: ['phone', 'desktop'] };
    const fields = 'Day,PublisherAccountId,DeviceOrProxy,Clicks,Revenue';
    expectRows(messages, 'publisherperformance', { ...window, fields, filters });
    expectRows(messages, 'advertiserperformance', { ...window, fields: 'Day,CampaignId,Impressions,Spend' });
  });

  it('pulls a window of 58 days in two parts, both with events, through the waiting room', async () => {
    service.stack.faults.set([{ on: 'query', delayMs: 1_000 }]);
    // The parts meet at 2026-01-06T00:00:00Z, 32 days after the midnight before the start. Both parts have events.
    const window = { start: '2025-12-05T12:00:00Z', end: '2026-02-01T23:59:59Z' };
    const messages = await run('read.sh', {
      ...{ ...window, publisher_filters: [] },
      ...{ publisher_fields: PUBLISHER_FIELDS, advertiser_fields: ADVERTISER_FIELDS },
    });
    expect(errorsOf(messages)).toEqual([]);
    expectRows(messages, 'publisherperformance', { ...window, fields: PUBLISHER_FIELDS });
    const rows = rowsOf(messages, 'publisherperformance');
    // The window must have the texts that are hardest to transfer. Without them, the comparison would prove little.
    for (const part of ['"comma, Inc."', '"line one\\nline two"', '"\\"\\""', '"return\\n"'])
      expect(rows.some((row) => row.includes(part))).toBe(true);
    expectRows(messages, 'advertiserperformance', { ...window, fields: ADVERTISER_FIELDS });
    expect(rowsOf(messages, 'days')).toEqual(sorted(await daysOf(window)));
  });

  it('pulls a window that starts and ends in the middle of an hour, filtered by texts that a URL must escape', async () => {
    const window = { start: '2025-12-30T10:30:00Z', end: '2026-01-06T00:59:59Z' };
    const text = `O'Brien" OR 1=1 --`;
    const publisher_fields = 'PlacementId,DeviceOrProxy,ServedAds';
    const messages = await run('read.sh', {
      ...{ ...window, publisher_fields },
      publisher_filters: [
        { field: 'DeviceOrProxy', value: text },
        { field: 'DeviceOrProxy', value: 'Zürich' },
        { field: 'PlacementId', value: '11' },
      ],
    });
    expect(rowsOf(messages, 'publisherperformance')).toHaveLength(2);
    const filters = { DeviceOrProxy: [text, 'Zürich'], PlacementId: ['11'] };
    expectRows(messages, 'publisherperformance', { ...window, fields: publisher_fields, filters });
  });

  it('says what is wrong with an unknown field', async () => {
    const messages = await run('read.sh', { publisher_fields: 'Day,Click' });
    const problem = 'Invalid request: requestedFields: Unknown field "Click". Did you mean "Clicks"?';
    expect(errorsOf(messages)).toContainEqual(expect.stringContaining(problem));
    expect(rowsOf(messages, 'publisherperformance')).toEqual([]);
  });

  it('requests a report again after a 500', async () => {
    service.stack.faults.set([{ on: 'query', fail: 'final', times: 1 }]);
    const window = { start: '2026-01-05T00:00:00Z', end: '2026-01-06T00:00:00Z' };
    const messages = await run('read.sh', { ...window, advertiser_fields: 'Day,Clicks' });
    expect(errorsOf(messages)).toEqual([]);
    expect(logOf(messages)).toContainEqual(expect.stringContaining('(HTTP 500). Retrying in '));
    expectRows(messages, 'advertiserperformance', { ...window, fields: 'Day,Clicks' });
  });

  /** A Python program that prints the settings for the Builder's program, with the manifest in them. */
  const WITH_MANIFEST = `
import json, sys, yaml
settings = json.load(open("config.json"))
settings["__injected_declarative_manifest"] = yaml.safe_load(open("manifest.yaml"))
settings["__command"] = "test_read"
print(json.dumps(settings))`;

  it('gives the rows of a stream to the Connector Builder’s program', async () => {
    const window = { start: '2026-01-05T00:00:00Z', end: '2026-01-06T00:00:00Z' };
    await writeFile(join(directory(), 'config.json'), JSON.stringify({ ...(await settings()), ...window }));
    const catalog = JSON.parse(await readFile(await guide.write('catalog.json', directory()), 'utf8'));
    const [, advertiser] = catalog.streams;
    await writeFile(join(directory(), 'catalog.json'), JSON.stringify({ streams: [advertiser] }));
    const runPython = (...given: string[]) => runProgram(python as string, given, { cwd: directory() });
    await writeFile(join(directory(), 'builder.json'), await runPython('-c', WITH_MANIFEST));

    const files = ['--config', 'builder.json', '--catalog', 'catalog.json'];
    const printed = await runPython('-m', 'airbyte_cdk.connector_builder.main', 'read', ...files);
    const answer = messagesOf(printed).find(({ record }) => record)?.record?.data as unknown as {
      slices: readonly { pages: readonly { records: readonly Row[] }[] }[];
    };
    const rows = answer.slices.flatMap(({ pages }) => pages.flatMap(({ records }) => records));
    const fields = ['Day', 'CampaignId', 'Impressions', 'Spend'];
    expect(sorted(rows)).toEqual(expectedRows('advertiserperformance', { ...window, fields }));
  });
});

async function daysOf({ start, end }: Pick<Question, 'start' | 'end'>) {
  const rows: Row[] = [];
  for (const report of ['publisherperformance', 'advertiserperformance']) {
    const query = new URLSearchParams({ startInclusive: start, endExclusive: end, 'api-version': '1.0' });
    const response = await service.request(`${report}/days`, query.toString());
    const { days } = (await response.json()) as { days: Row[] };
    expect(days.length).toBeGreaterThan(7);
    rows.push(...days.map((day) => ({ ...day, report })));
  }
  return rows;
}

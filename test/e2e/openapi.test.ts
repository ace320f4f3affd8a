import { describe, expect, it } from 'vitest';
import document from '../../docs/openapi.json' with { type: 'json' };
import { exampleCsv, exampleRequests } from '../../lib/openapi/report-parameters.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { knownEvents } from './known-events.ts';
import { ownService } from './service.ts';

const service = await ownService(knownEvents(5, 50));

const get = (init: RequestInit = {}) => fetch(`${service.stack.apiUrl}/openapi.json`, init);

describe('GET /openapi.json', () => {
  it('gives every caller the document, with the addresses of this gateway and its token endpoint', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    const { info, servers, components } = JSON.parse(await response.text());
    expect(info).toEqual({ ...document.info, 'x-commit': expect.stringMatching(/./) });
    expect(servers).toEqual([{ url: service.gatewayUrl }]);
    // With the token endpoint, a client that can request tokens finds out how.
    const { tokenUrl, scopes } = components.securitySchemes.clientCredentials.flows.clientCredentials;
    expect([tokenUrl, Object.keys(scopes)]).toEqual([service.stack.tokenUrl, [service.stack.scope]]);
  });

  it('is gzipped for callers that accept gzip', async () => {
    const answers = await Promise.all(
      ['gzip', 'identity'].map((encoding) => get({ headers: { 'Accept-Encoding': encoding } })),
    );
    expect(answers.map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null]);
    expect(answers.map(({ headers }) => headers.get('vary'))).toEqual(['Accept-Encoding', 'Accept-Encoding']);
    const [gzipped, plain] = await Promise.all(answers.map((answer) => answer.text()));
    expect(gzipped).toBe(plain);
    const [few, many] = answers.map(({ headers }) => Number(headers.get('content-length')));
    expect(few).toBeLessThan((many ?? 0) / 4);
  });
});

type Parameter = Readonly<{ name: string; explode?: boolean; example?: unknown }> & {
  readonly examples?: Readonly<Record<string, { value: unknown }>>;
};

/** The query that an example describes. A parameter's `explode` says how a list is written. */
function queryOfExample(parameters: readonly object[], example: string, filters: readonly string[]): string {
  const query = new URLSearchParams();
  for (const entry of parameters) {
    const common = '$ref' in entry ? String(entry.$ref).split('/').at(-1) : undefined;
    const known = common ? document.components.parameters[common as 'api-version'] : entry;
    const { name, explode, examples, ...parameter } = known as Parameter;
    const value = examples ? examples[example]?.value : parameter.example;
    if (value === undefined || (name.endsWith(']') && !filters.includes(name))) continue;
    const values = Array.isArray(value) && explode ? value : [value];
    for (const one of values) query.append(name, String(one));
  }
  return String(query);
}

const examples = reports.flatMap((report) =>
  Object.entries(exampleRequests(report)).map(
    ([name, request]) => [report.name, name, report, request] as const,
  ),
);
it.each(examples)(
  'a request made of the examples in the OpenAPI document gets a report: %s, %s',
  async (_, name, report, request) => {
    const { parameters } =
      document.paths[`/reporting/${report.name}` as '/reporting/publisherperformance'].get;
    const filters = Object.keys(request.filter ?? {}).map((field) => `filter[${field}]`);
    const query = queryOfExample(parameters, name, filters);
    const response = await service.request(report.name, query, { redirect: 'follow' });
    const csv = await response.text();
    expect(response.status, csv).toBe(200);
    expect(csv.split('\n')[0]).toBe(exampleCsv(request, report).split('\n')[0]);
  },
);

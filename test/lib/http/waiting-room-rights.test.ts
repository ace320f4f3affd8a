import type { APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import type { PartnerRecord } from '../../../lib/access/partner-record.ts';
import { downloadsHandler } from '../../../lib/http/downloads-handler.ts';
import { reportHandler } from '../../../lib/http/report-handler.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { PARAMETERS } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import { BY_REGISTER, functionSetting, invoke, PARTNER, requestEvent } from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
useFakeTime();

const CLAIMS = { ENTITLEMENTS: 'claims', COMPANY_CLAIMS: '{"publisherCompanies":{"claim":"companies"}}' };

/**
 * A waiting caller, with a query that never ends. `hop` requests the Location of the answer `before`. Without `before`,
 * it requests the URL that the caller has already.
 */
async function waitingCaller(env: Record<string, string> = BY_REGISTER) {
  const made = functionSetting({ ...env, QUERY_WAIT_MS: '1000' }, { ends: 'never' }, { ends: 'never' });
  made.partners.set('client-1', PARTNER);
  const verifyToken = async () => ({ client_id: 'client-1', companies: ['7', '9'] });
  const ask = reportHandler(publisherReport, { ...made.dependencies, verifyToken });
  const wait = downloadsHandler(made.dependencies);
  const answered = async (answering: ReturnType<typeof invoke>) => {
    await vi.advanceTimersByTimeAsync(30_000);
    return answering;
  };
  const path = '/reporting/publisherperformance';
  let location = (await answered(invoke(ask, requestEvent({ path, parameters: PARAMETERS })))).headers?.[
    'Location'
  ];
  const hop = async (before?: APIGatewayProxyResult) => {
    if (before) location = before.headers?.['Location'];
    const [, , , , ticket = '', number = ''] = String(location).split('/');
    const event = requestEvent({
      path: `/reporting/downloads/${ticket}/${number}`,
      pathParameters: { ticket, hop: number },
    });
    made.lines.length = 0;
    const answer = await answered(invoke(wait, event));
    location = answer.headers?.['Location'];
    return answer;
  };
  return { ...made, hop };
}

const sqlOf = (started: { readonly query: { readonly sql: string } } | undefined) => started?.query.sql;

describe('the waiting room, with a register of partners,', () => {
  it('lets a partner go on waiting for its query while the partner’s rights do not change', async () => {
    const { hop, queries, lines } = await waitingCaller();
    for (const next of [2, 3]) {
      const answer = await hop();
      expect(answer.statusCode).toBe(303);
      expect(answer.headers?.['Location']).toMatch(RegExp(`/downloads/[\\w-]{43}/${next}$`));
      expect(lines).toMatchObject([
        { facts: { client: 'client-1', partner: 'first-partner', companies: 2 } },
      ]);
    }
    expect(queries.started).toHaveLength(1);
  });

  it.each<[string, Partial<PartnerRecord> | undefined, string]>([
    ['was removed', undefined, 'unknown-client'],
    [
      'has only companies of the other report',
      { publisherCompanies: [], advertiserCompanies: 'every-company' },
      'no-companies',
    ],
  ])(
    'answers 404 at the next hop for a partner that %s, and the log gives the reason',
    async (_, change, refusal) => {
      const { hop, partners, queries, lines } = await waitingCaller();
      if (change) partners.set('client-1', { ...PARTNER, ...change });
      else partners.delete('client-1');
      expect((await hop()).statusCode).toBe(404);
      expect(lines).toMatchObject([
        { level: 'info', facts: { problem: 'no-such-download', refusal, client: 'client-1' } },
      ]);
      expect(queries.started).toHaveLength(1);
    },
  );

  it.each<[string, PartnerRecord['publisherCompanies'], string | undefined]>([
    ['fewer', ['7'], 'publisher_company_id IN (7)'],
    ['more', ['7', '9', '11'], 'publisher_company_id IN (7, 9, 11)'],
    ['all', 'every-company', undefined],
  ])('begins a new query if the partner’s companies are now %s', async (_, now, predicate) => {
    const { hop, partners, queries } = await waitingCaller();
    expect(sqlOf(queries.started[0])).toContain('publisher_company_id IN (7, 9)');
    partners.set('client-1', { ...PARTNER, publisherCompanies: now });
    expect((await hop()).statusCode).toBe(303);
    expect(queries.started).toHaveLength(2);
    const sql = sqlOf(queries.started[1]);
    if (predicate === undefined) expect(sql).not.toContain('publisher_company_id');
    else expect(sql).toContain(predicate);
  });

  it('lists the lake again for new companies, and waits for the new query at the next hop', async () => {
    const { hop, partners, queries, lake } = await waitingCaller();
    partners.set('client-1', { ...PARTNER, publisherCompanies: ['7'] });
    const looks = lake.looks.length;
    await hop();
    expect(lake.looks.length).toBeGreaterThan(looks);
    lake.add('2026-01-02', 'b.parquet');
    expect((await hop()).statusCode).toBe(303);
    expect(queries.started).toHaveLength(2);
  });
});

describe('the waiting room, with claims,', () => {
  it('does not read the register, and goes on with the query for the companies in the ticket', async () => {
    const { hop, partners, queries, lines } = await waitingCaller(CLAIMS);
    partners.clear();
    expect((await hop()).statusCode).toBe(303);
    expect(lines).toMatchObject([{ facts: { client: 'client-1', partner: 'client-1', companies: 2 } }]);
    expect(queries.started.map(sqlOf)).toEqual([expect.stringContaining('publisher_company_id IN (7, 9)')]);
  });
});

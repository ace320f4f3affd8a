import { expect, it, vi } from 'vitest';
import { ONE_PARTNER, partnerQueries } from '../../infra/operations/partner-queries.ts';
import { downloadsHandler } from '../../lib/http/downloads-handler.ts';
import { reportHandler } from '../../lib/http/report-handler.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { downloadPath } from '../../lib/routes.ts';
import type { Plan } from '../lib/delivery/memory-queries.ts';
import { PARAMETERS, START } from '../lib/delivery/setting.ts';
import { functionSetting, invoke, requestEvent } from '../lib/http/setting.ts';

vi.mock('node:timers/promises', () => import('../fake-timers-promises.ts'));

/** The fields of the log lines of a report's function and of the waiting room. The queries read these lines. */
async function loggedFields(env: Record<string, string>, claims: object, plan: Plan = {}): Promise<string[]> {
  vi.useFakeTimers({ now: START });
  const made = functionSetting(env, plan);
  const verifyToken = async () => ({ ...claims });
  const report = reportHandler(publisherReport, { ...made.dependencies, verifyToken });
  const answer = async (handler: unknown, event: Parameters<typeof requestEvent>[0]) => {
    const answering = invoke(handler, requestEvent(event));
    await vi.advanceTimersByTimeAsync(60_000);
    return answering;
  };
  const path = '/reporting/publisherperformance';
  const { headers } = await answer(report, { path, parameters: PARAMETERS });
  const [, ticket, hop] = /downloads\/([^/]+)\/(\d+)$/.exec(String(headers?.['Location'])) ?? [];
  if (ticket !== undefined && hop !== undefined) {
    const waits = { path: downloadPath(ticket, Number(hop)), pathParameters: { ticket, hop } };
    await answer(downloadsHandler(made.dependencies), waits);
  }
  vi.useRealTimers();
  return made.lines.flatMap(({ facts }) => Object.keys(facts));
}

it('the saved queries ask only for fields that the log’s lines have', async () => {
  const claims = { client_id: 'first-partner' };
  const byClaims = { ENTITLEMENTS: 'claims', COMPANY_CLAIMS: '{"publisherCompanies":{"claim":"companies"}}' };
  const waiting = await loggedFields({ QUERY_WAIT_MS: '1000' }, claims, { ends: 'never' });
  const others = [...(await loggedFields({}, claims)), ...(await loggedFields(byClaims, claims))];
  const inLog = ['@timestamp', 'message', ...waiting, ...others];
  const words = ['filter', 'fields', 'sort', 'limit', 'stats', 'by', 'as', 'desc', 'or', 'in', 'and'];
  const functions = ['ispresent', 'greatest', 'count', 'sum', 'bin', 'max', 'count_distinct'];
  for (const { ofOne, ofAll } of partnerQueries)
    for (const query of [[...ONE_PARTNER, ...ofOne], ofAll]) {
      const text = query.join('\n').replaceAll(/^#.*$|"[^"]*"/gm, '');
      const named = [...text.matchAll(/\bas (\w+)/g)].map(([, name]) => name);
      const unknown = (text.match(/@?[a-z_]\w*/gi) ?? []).filter(
        (word) => ![...inLog, ...words, ...functions, ...named, 'd'].includes(word),
      );
      expect(unknown).toEqual([]);
    }
});

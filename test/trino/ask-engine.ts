import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { retypeCsv } from '../../lib/csv/retype-csv.ts';
import type { Report } from '../../lib/report/catalogue.ts';
import { compileQuery } from '../../lib/report/compile-query.ts';
import { entitlementTo } from '../../lib/report/entitlement.ts';
import { parseRequest } from '../../lib/report/parse-request.ts';
import type { QueryEngine } from '../../local/athena/query-engine.ts';
import { queryOf } from '../e2e/service.ts';
import type { Case } from './corpus.ts';

/** An engine's report for a case, made with the service's own code, but without HTTP and S3. */
export async function askEngine(
  engine: QueryEngine,
  report: Report,
  { question, companies }: Case,
): Promise<string> {
  const sent = new URLSearchParams(queryOf(question));
  const parameters = Object.fromEntries([...sent.keys()].map((name) => [name, sent.getAll(name)]));
  const request = parseRequest(report, { parameters, accept: undefined });
  const entitlement = companies ? entitlementTo(companies) : 'every-company';
  if (!entitlement) throw new Error('a case names no company');
  const query = compileQuery(request, entitlement);
  const signal = new AbortController().signal;
  const { csvPath } = await engine.run({ id: randomUUID(), ...query, signal });
  try {
    const columns = request.requestedFields.map(({ name, type }) => ({ name, type }));
    return await text(retypeCsv(columns, createReadStream(csvPath)));
  } finally {
    await rm(csvPath);
  }
}

import type { Config } from '../../lib/config.ts';
import { type Decision, decide } from '../../lib/delivery/decide.ts';
import { type DeliveryBackends, type Job, makeJob } from '../../lib/delivery/delivery.ts';
import { readDataState } from '../../lib/lake/data-version.ts';
import { InvalidRequest, Problem } from '../../lib/problems/problem.ts';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import type { Entitlement } from '../../lib/report/entitlement.ts';
import { parseRequest } from '../../lib/report/parse-request.ts';
import { readRecord } from '../../lib/results/job-record.ts';
import { jobRecordKey, reportKey } from '../../lib/results/keys.ts';
import { reportPath } from '../../lib/routes.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** A request for a report, read from a URL. */
export interface AskedReport {
  readonly report: Report;
  readonly parameters: Readonly<Record<string, readonly string[]>>;
}

/** Reads a request from a URL. Throws an OperatorFault if the URL is not that of a report. */
export function readUrl(text: string): AskedReport {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const report = reports.find((known) => url?.pathname.endsWith(reportPath(known)));
  if (!url || !report)
    throw new OperatorFault(
      `"${text}" is no URL of a report. It ends in ${reports.map((known) => `${reportPath(known)}?…`).join(' or ')}`,
    );
  const { searchParams } = url;
  const parameters = searchParams.keys().map((name) => [name, searchParams.getAll(name)] as const);
  return { report, parameters: Object.fromEntries(parameters) };
}

/** Describes, in lines, how the service would answer a request from a caller with this entitlement. Starts no query. */
export async function explainRequest(
  { report, parameters }: AskedReport,
  entitlement: Entitlement,
  backends: DeliveryBackends,
  config: Config,
): Promise<string[]> {
  let job: Job;
  try {
    const request = parseRequest(report, { parameters, accept: undefined });
    job = makeJob({ request, entitlement }, await readDataState(backends.lake, request, 0));
  } catch (error) {
    if (error instanceof InvalidRequest)
      return ['400:', ...error.faults.map(({ parameter, detail }) => `  ${parameter}: ${detail}`)];
    if (error instanceof Problem) return [`${error.status}: ${error.message}`];
    throw error;
  }
  const key = jobRecordKey(job);
  const stored = await backends.results.read(key);
  const decision = decide(readRecord(stored), stored?.ageMs ?? 0, {
    ...config,
    longestQueueMs: config.longestQueryMs,
    // Counts only for a caller that has waited.
    leftMs: 0,
    acceptsGzip: false,
    fingerprint: job.data.fingerprint,
    hasListed: true,
    waitedMs: undefined,
    own: undefined,
  });
  const file =
    decision.next === 'deliver' &&
    (await backends.results.head(reportKey(decision.record.executionId, job.fileName)));
  return [
    'SQL',
    ...job.query.sql.split('\n').map((line) => `  ${line}`),
    ...job.query.parameters.map((parameter, index) => `  ?${index + 1} = ${parameter}`),
    `data        ${job.data.isListed ? `version ${job.data.version}` : 'can not be listed: every report is queried anew'}`,
    `job         ${job.id}`,
    `cached      ${cachedText(key, decision, file)}`,
  ];
}

function cachedText(
  key: string,
  decision: Decision,
  file: { readonly bytes: number } | undefined | false,
): string {
  switch (decision.next) {
    case 'deliver':
      return file
        ? `there, ${file.bytes} bytes, made by query ${decision.record.executionId}`
        : `its file is gone, and callers get 404: remove s3://…/${key}, and it is made again`;
    case 'wait':
    case 'take-over':
      return decision.record.state === 'starting'
        ? 'none yet: Athena is asked to start its query. If this stays, Athena throttles: docs/runbook.md#engine-is-saturated'
        : 'none yet: a query for it is under way, and would be joined';
    case 'publish':
      return `none yet: the result of query ${decision.record.executionId} is made into files`;
    case 'refuse':
      return `none: query ${decision.record.executionId} ended ${decision.record.why}, and is not run again`;
    default:
      return 'none: a query would be run';
  }
}

import { dayStates, listedWindow } from '../lake/day-states.ts';
import { NoRecords } from '../problems/problem.ts';
import type { Report } from '../report/catalogue.ts';
import { parseDaysRequest } from '../report/parse-request.ts';
import { formatUtcTime } from '../report/utc-time.ts';
import { admitCaller, type CallerDependencies, verifyCaller } from './admit-caller.ts';
import { requestTimes } from './answer-delivery.ts';
import { problemChain } from './problem-chain.ts';

/**
 * GET /reporting/{report}/days?startInclusive=…&endExclusive=…&api-version=1.0
 * - 200 with the window, and the state and version of each day that has events, as of now
 * - 400 with every fault of the request; 401 without a token that gives access to rows of this report
 * - 404 if the lake has no table for the report
 * - 500 if the service fails, 503 if the same request may succeed later
 */
export function daysHandler(report: Report, dependencies: CallerDependencies) {
  const { config, backendsUntil } = dependencies;
  return problemChain(dependencies).handler(async (event, { facts, began }) => {
    facts.report = report.name;
    // Listing the lake may take all the time that the gateway leaves.
    const { lake, register } = backendsUntil(requestTimes(config, began, 1).answerBy);
    const claims = await verifyCaller(event, dependencies, facts);
    await admitCaller(claims, report, config, register, facts);
    const window = parseDaysRequest(event.multiValueQueryStringParameters ?? {});

    const listing = await lake.list(report, listedWindow(window), 0);
    if (!listing)
      throw new Error('The lake can not be listed: EVENTS_BUCKET, or the right to list it, is missing.');
    if (listing.isTableMissing) throw new NoRecords(report.title);
    const body = {
      report: report.name,
      startInclusive: formatUtcTime(window.start),
      endExclusive: formatUtcTime(window.end),
      days: dayStates(listing.objects, lake.folderOf(report), window, config.finalAfterHours),
    };
    return {
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: JSON.stringify(body),
    };
  });
}

import { BASE_PATH } from '../lib/names.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { formatUtcTime } from '../lib/report/utc-time.ts';
import type { Stack } from './stack.ts';

const DAY_MS = 86_400_000;

/** One line for a POSIX shell that fetches a token and pulls the report of the week up to a day, `YYYY-MM-DD`. */
export function exampleCurl(stack: Stack, lastDay: string): string {
  const end = Date.parse(`${lastDay}T00:00:00Z`) + DAY_MS;
  const query = [
    'requestedFields=Day,ServedAds,Opens,Clicks,Revenue',
    `startInclusive=${formatUtcTime(end - 7 * DAY_MS)}`,
    `endExclusive=${formatUtcTime(end)}`,
    'api-version=1.0',
  ];
  const token =
    `curl -s ${stack.tokenUrl} -d grant_type=client_credentials -d client_id=${stack.clientId} ` +
    `-d client_secret=${stack.clientSecret} -d scope=${stack.scope} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;
  const url = `${stack.apiUrl}${BASE_PATH}/${publisherReport.name}?${query.join('&')}`;
  return `curl -L -H "Authorization: Bearer $(${token})" '${url}'`;
}

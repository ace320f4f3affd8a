import { publisherReport } from '../lib/report/catalogue.ts';
import { formatUtcTime } from '../lib/report/utc-time.ts';
import { reportPath } from '../lib/routes.ts';
import type { Stack } from './stack.ts';

/** The text that `npm start` prints when the service is ready: the addresses, and what to try next. */
export const lastScreen = ({
  apiUrl,
  curl,
  stackFile,
}: {
  readonly apiUrl: string;
  /** A shell command, in one line, that fetches a report. */
  readonly curl: string;
  readonly stackFile: string;
}): string => `
Ready at ${apiUrl}. Ctrl-C stops the service.

The page, where you build a report by looking: ${apiUrl}/
Your own program: docs/clients.md. Your own events, partners and faults: docs/local.md. All documents: docs/README.md.
Addresses and credentials are in ${stackFile}.

A report in a shell, to paste:

${curl}
`;

const DAY_MS = 86_400_000;

/**
 * A command for a POSIX shell in the directory of `npm start`, in one line. It fetches a token, and then the report of
 * the week that ends with `lastDay` (`YYYY-MM-DD`).
 *
 * @param environment the settings that `npm run token` needs to find a stack that is not the usual one
 */
export function exampleCurl(
  stack: Pick<Stack, 'apiUrl'>,
  lastDay: string,
  environment: { readonly LOCAL_DIR?: string | undefined; readonly PORT?: string | undefined },
): string {
  const end = Date.parse(`${lastDay}T00:00:00Z`) + DAY_MS;
  const query = [
    'requestedFields=Day,ServedAds,Opens,Clicks,Revenue',
    `startInclusive=${formatUtcTime(end - 7 * DAY_MS)}`,
    `endExclusive=${formatUtcTime(end)}`,
    'api-version=1.0',
  ];
  const url = `${stack.apiUrl}${reportPath(publisherReport)}?${query.join('&')}`;
  const settings = Object.entries(environment).flatMap(([name, value]) =>
    value ? [`${name}='${value}'`] : [],
  );
  const token = [...settings, 'npm run --silent token'].join(' ');
  return `curl -L -H "Authorization: Bearer $(${token})" '${url}'`;
}

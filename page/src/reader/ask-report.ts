import type { ReportProblem } from './reader-messages.ts';

/**
 * The largest number of requests for the same report. Browsers follow at most 20 redirects, which is eight minutes in
 * the waiting room. The next request then waits for the same report.
 */
const MAX_ASKS = 4;
const WAITED_LONG_MS = 15_000;

/** The problem that the service, or the download host, answered instead of a report. */
export class NoReport extends Error {
  readonly problem: ReportProblem;

  constructor(problem: ReportProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Asks for a report, follows the redirects and resolves to the response of the download. Throws NoReport. */
export async function askReport(url: string, token: string): Promise<Response> {
  const headers = headersWith(token);
  for (let ask = 1; ; ask++) {
    const asked = performance.now();
    try {
      const response = await fetch(url, {
        headers,
        cache: 'no-store',
        credentials: 'omit',
      });
      if (response.ok) return response;
      throw new NoReport(await problemOf(response));
    } catch (error) {
      if (error instanceof NoReport) throw error;
      // The browser does not say why it gave up. After a long wait, the reason is the number of redirects.
      if (performance.now() - asked > WAITED_LONG_MS && ask < MAX_ASKS) continue;
      throw new NoReport({
        title: 'No answer',
        detail:
          'The service, or the download host, could not be reached. Check the connection and run it again.',
      });
    }
  }
}

function headersWith(token: string): Headers {
  try {
    return new Headers({ Authorization: `Bearer ${token}`, Accept: 'text/csv' });
  } catch {
    throw new NoReport({
      title: 'No token',
      status: 401,
      detail: 'What was pasted holds characters that no token has. Copy the whole token, and nothing else.',
    });
  }
}

/** The problem document of an answer (RFC 9457). If the answer has none, the page's own words in that form. */
async function problemOf(response: Response): Promise<ReportProblem> {
  const { status } = response;
  const text = await response.text();
  const retryAfterSeconds = retryAfterOf(response.headers);
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (response.headers.get('content-type')?.includes('json')) {
    try {
      const document = JSON.parse(text);
      if (typeof document.detail === 'string') return { ...document, ...wait };
    } catch {
      // Treats the body like any other body that is no problem document.
    }
  }
  return {
    title: 'No report',
    status,
    ...wait,
    detail:
      status === 403
        ? 'The download link has expired or was refused. Run the report again.'
        : `The answer has status ${status} and does not say why. Run the report again.`,
  };
}

/** How long `Retry-After` asks to wait, in seconds; it holds seconds or a date (RFC 9110, 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

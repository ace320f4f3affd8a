import { publisherReport } from '../../lib/report/catalogue.ts';
import { formatUtcTime } from '../../lib/report/utc-time.ts';
import { reportPath } from '../../lib/routes.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import type { ModelledService } from './modelled-service.ts';
import type { PlannedReport } from './workload.ts';

/** The result of a partner's job for one report. */
export interface Pulled {
  readonly report: PlannedReport;
  /** When the report was downloaded, in milliseconds since the rush began. Undefined if the job gave up. */
  doneMs?: number;
  /** The number of answers with each status. */
  readonly answers: Map<number, number>;
  /** The number of requests to the service. */
  requests: number;
  /** The number of 5xx answers without `Retry-After`. */
  dishonest: number;
}

const DAY_MS = 86_400_000;

const pathOf = ({ id, days }: PlannedReport, today: number): string => {
  const query = new URLSearchParams({
    requestedFields: 'Day,Clicks',
    startInclusive: formatUtcTime(today - days * DAY_MS),
    endExclusive: formatUtcTime(today),
    'filter[PlacementId]': String(id),
    'api-version': '1.0',
  });
  return `${reportPath(publisherReport)}?${query}`;
};

/** The first pause after an answer without `Retry-After`. As with curl's `--retry`, each is twice the one before. */
const FIRST_PAUSE_MS = 1_000;
/** No such pause is longer than this. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * Pulls one report as `curl -L --retry` does. It follows redirects. After any other answer, it waits for the time in
 * `Retry-After`, or pauses if the answer has none, and starts over from the first URL. It gives up when the partner's
 * job has run out of time.
 */
export async function pull(
  time: VirtualTime,
  { service, s3 }: { readonly service: ModelledService; readonly s3: ModelledS3 },
  report: PlannedReport,
  { six, today, untilMs }: { readonly six: number; readonly today: number; readonly untilMs: number },
): Promise<Pulled> {
  const pulled: Pulled = { report, answers: new Map(), requests: 0, dishonest: 0 };
  const first = pathOf(report, today);
  let pauseMs = FIRST_PAUSE_MS;
  for (let url = first; time.now() - six < untilMs; ) {
    if (url.startsWith('https://')) {
      await s3.download(new URL(url).pathname.slice(1));
      pulled.doneMs = time.now() - six;
      return pulled;
    }
    const { status, location, retryAfterSeconds } = await service.get(url, report.partner);
    pulled.requests += 1;
    pulled.answers.set(status, (pulled.answers.get(status) ?? 0) + 1);
    if (location !== undefined) {
      url = location;
      continue;
    }
    if (status >= 500 && retryAfterSeconds === undefined) pulled.dishonest += 1;
    await time.delay(retryAfterSeconds === undefined ? pauseMs : retryAfterSeconds * 1_000);
    if (retryAfterSeconds === undefined) pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    url = first;
  }
  return pulled;
}

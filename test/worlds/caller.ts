import type { StoredObject } from '../s3/memory-s3.ts';
import type { Answer, Gateway } from './gateway.ts';
import { dayAfter } from './modelled-lake.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import type { Pull } from './parts.ts';
import type { CallerPlan } from './plan.ts';
import type { World } from './world.ts';

/** One request of a pull, with its answer. */
export interface AnsweredRequest {
  readonly id: string;
  /** 0 for the request for the report itself, and n for the nth waiting hop. */
  readonly hop: number;
  readonly startedAt: number;
  readonly answeredAt: number;
  readonly answer: Answer;
  readonly pull: Pull;
}

/** A file that a caller has downloaded. */
export interface Download {
  readonly key: string;
  readonly stored: StoredObject | undefined;
  readonly text: string | undefined;
  readonly request: AnsweredRequest;
}

/** Called with the answers and downloads that callers receive. */
export interface CallerListeners {
  readonly onPull: (pull: Pull) => void;
  readonly onAnswer: (request: AnsweredRequest) => void;
  readonly onDownload: (download: Download) => void;
}

/** How a caller's pull ended. */
export type Ending = 'has its report' | 'was refused' | 'went away' | 'gave up';

/** The most requests of a caller. A caller without a report after this many gets redirects or errors without end. */
const MOST_REQUESTS = 60;

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export const reportUrl = (days: readonly string[]): string =>
  `/reporting/publisherperformance?requestedFields=Day,Clicks&startInclusive=${days[0]}T00:00:00Z` +
  `&endExclusive=${dayAfter(days)}T00:00:00Z&api-version=1.0`;

/**
 * Pulls a report as `curl -L --retry` does. It follows redirects. After a 5xx, it pauses and starts over. `Retry-After`
 * sets the length of the pause.
 */
export async function pull(
  world: World,
  { gateway, s3 }: { readonly gateway: Gateway; readonly s3: ModelledS3 },
  plan: CallerPlan,
  { onPull, onAnswer, onDownload }: CallerListeners,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<Ending> {
  const { time } = world;
  await time.delay(plan.atMs);
  const { id, partner, acceptsGzip } = plan;
  const began = time.now();
  const leavesAt = began + (plan.leavesAfterMs ?? Number.POSITIVE_INFINITY);
  const first = reportUrl(plan.days);
  let pauseMs = FIRST_PAUSE_MS / 2;
  let url = first;
  let hop = 0;
  let current: Pull = { caller: plan, startedAt: began };
  // A caller with a time limit may send any number of requests.
  const most = Number.isFinite(untilMs) ? Number.POSITIVE_INFINITY : MOST_REQUESTS;
  for (let count = 0; count < most; count++) {
    if (time.now() - began > untilMs) return 'gave up';
    const requestId = `${id}.${count}`;
    const startedAt = time.now();
    if (hop === 0) {
      current = { caller: plan, startedAt };
      onPull(current);
    }
    world.tell?.(
      requestId,
      `GET ${hop === 0 ? `${partner} ${plan.days.join()}` : `hop ${hop}`}${acceptsGzip ? ' gzip' : ''}`,
    );
    const answer = await gateway.get(url, { id: requestId, partner, acceptsGzip });
    const { status, headers } = answer;
    const location = headers['Location'];
    const retryAfter = headers['Retry-After'];
    world.tell?.(
      requestId,
      `is answered ${status} ${location ?? ''} ${headers['Cache-Status'] ?? ''} ${answer.died ?? ''} ${retryAfter ?? ''} ${status >= 400 ? answer.body : ''} (machine ${answer.invocation.machine.name})`,
    );
    const request: AnsweredRequest = {
      id: requestId,
      hop,
      startedAt,
      answeredAt: time.now(),
      answer,
      pull: current,
    };
    onAnswer(request);
    if (time.now() > leavesAt) return 'went away';
    if (status === 303 && location?.startsWith('https:')) {
      await time.delay(plan.downloadsAfterMs);
      onDownload({ ...downloaded(s3, new URL(location), time.now()), request });
      return 'has its report';
    }
    if (status === 303 && location !== undefined) {
      hop += 1;
      url = location;
      continue;
    }
    if (status < 500) return 'was refused';
    // Without a `Retry-After`, curl's `--retry` pauses for a second, then each time for twice as long.
    if (retryAfter === undefined) pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    await time.delay(retryAfter === undefined ? pauseMs : Number(retryAfter) * 1_000);
    url = first;
    hop = 0;
  }
  return 'gave up';
}

function downloaded({ get }: ModelledS3, url: URL, now: number) {
  const key = decodeURIComponent(url.pathname.slice(1));
  const [from, until] = timesOf(url);
  const stored = from <= now && now <= until ? get(key) : undefined;
  return { key, stored, text: stored?.text };
}

/** S3 refuses a link whose time lies this far ahead. */
const AHEAD_MS = 900_000;

/** From when until when S3 takes a link. */
function timesOf({ searchParams }: URL): [from: number, until: number] {
  const signed = searchParams.get('X-Amz-Date')?.replace(/^(....)(..)(..)T(..)(..)/, '$1-$2-$3T$4:$5:');
  if (signed === undefined) return [0, Number(searchParams.get('until'))];
  const at = Date.parse(signed);
  return [at - AHEAD_MS, at + Number(searchParams.get('X-Amz-Expires')) * 1_000];
}

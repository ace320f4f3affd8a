import { performance } from 'node:perf_hooks';

/** The share of the recent time in which a thread was busy, from 0 to 1. */
export type Utilization = () => number;

/** `new`: the first request for a report. `waiting`: a later request to a waiting URL. */
export type Purpose = 'new' | 'waiting';

/** The answer to a request that is not let in. */
export interface Refusal {
  readonly retryAfterSeconds: number;
}

export type Admission = ReturnType<typeof createAdmission>;

/** A thread with a higher utilization has no room for another request. */
const MAX_UTILIZATION = 0.85;

/** The time between two checks of the utilizations while requests wait. */
const LOOK_MS = 10;

/** How many requests are admitted per check. They are few, because the load of an admitted request shows only later. */
const PER_LOOK = 2;

/** The first answer about a report is due within eight seconds, each later answer within 25. */
const LONGEST_WAIT_MS: Readonly<Record<Purpose, number>> = { new: 7_000, waiting: 20_000 };

/** The pace of admissions is measured over the last two seconds. */
const WINDOW_MS = 2_000;

/** Nobody is refused before the pace has been measured for this time. */
const SHORTEST_WINDOW_MS = 1_000;

const LONGEST_RETRY_SECONDS = 3;

interface Waiting {
  readonly since: number;
  readonly settle: (refusal?: Refusal) => void;
}

/** Lets requests in as fast as the machine can serve them. Refuses requests that would wait too long. */
export function createAdmission({
  utilizations,
  queuedQueries,
  maxQueued,
  now = () => performance.now(),
}: {
  /** The utilizations of the threads that every request needs. */
  readonly utilizations: readonly Utilization[];
  /** How many queries wait for the engine. */
  readonly queuedQueries: () => number;
  /** From this number of queued queries on, no request for a new report is admitted. It keeps the engine busy. */
  readonly maxQueued: number;
  /** The clock, in milliseconds. */
  readonly now?: () => number;
}) {
  const queues: Readonly<Record<Purpose, Waiting[]>> = { waiting: [], new: [] };
  /** The times of the admissions within the window. */
  let admitted: number[] = [];
  let waitingSince = 0;
  let room = PER_LOOK;
  let timer: NodeJS.Timeout | undefined;

  const isFull = (purpose: Purpose) =>
    room <= 0 ||
    utilizations.some((utilization) => utilization() > MAX_UTILIZATION) ||
    (purpose === 'new' && queuedQueries() >= maxQueued);

  const admit = () => {
    room -= 1;
    admitted.push(now());
  };

  /** Refuses requests from the end of a queue if they would wait too long at the pace of the last two seconds. */
  const refuseLatest = () => {
    const windowMs = Math.min(WINDOW_MS, now() - waitingSince);
    admitted = admitted.filter((at) => at > now() - WINDOW_MS);
    if (windowMs < SHORTEST_WINDOW_MS) return;
    const paceMs = windowMs / Math.max(1, admitted.length);
    for (const purpose of ['new', 'waiting'] as const) {
      const queue = queues[purpose];
      const before = purpose === 'new' ? queues.waiting.length : 0;
      for (let last = queue.at(-1); last; last = queue.at(-1)) {
        const leftMs = (before + queue.length) * paceMs;
        if (now() - last.since + leftMs <= LONGEST_WAIT_MS[purpose]) break;
        queue.pop();
        // The time until this request would have been admitted, but at most LONGEST_RETRY_SECONDS.
        last.settle({ retryAfterSeconds: Math.min(LONGEST_RETRY_SECONDS, Math.ceil(leftMs / 1_000)) });
      }
    }
  };

  const look = () => {
    room = PER_LOOK;
    for (const purpose of ['waiting', 'new'] as const) {
      while (queues[purpose].length > 0 && !isFull(purpose)) {
        admit();
        queues[purpose].shift()?.settle();
      }
    }
    refuseLatest();
    if (queues.waiting.length + queues.new.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /** Resolves to undefined when the request may begin, or to a refusal as soon as its wait is clearly too long. */
    enter(purpose: Purpose): Promise<Refusal | undefined> {
      if (!timer) {
        room = PER_LOOK;
        waitingSince = now();
        timer = setInterval(look, LOOK_MS);
      }
      if (queues[purpose].length === 0 && !isFull(purpose)) {
        admit();
        return Promise.resolve(undefined);
      }
      return new Promise((settle) => {
        queues[purpose].push({ since: now(), settle });
      });
    },
    /** Stops the admission, and lets in every request that waits. */
    close(): void {
      clearInterval(timer);
      for (const { settle } of [...queues.waiting, ...queues.new]) settle();
    },
  };
}

type EventLoopUtilization = typeof performance.eventLoopUtilization;

/** The shortest time over which a thread's utilization is measured. */
const MEASURE_MS = 50;

/** Measures a thread's utilization by Node.js's event loop figures. It is 0 while the thread does not exist. */
export function utilizationOf(read: () => EventLoopUtilization | undefined): Utilization {
  let before: ReturnType<EventLoopUtilization> | undefined;
  let at = 0;
  let latest = 0;
  return () => {
    const since = performance.now() - at;
    if (since < MEASURE_MS) return latest;
    const eventLoopUtilization = read();
    const current = eventLoopUtilization?.();
    // After a long pause, the earlier reading is too old to compare with.
    const isRecent = before && since < 10 * MEASURE_MS;
    latest = current && before && isRecent ? (eventLoopUtilization?.(current, before).utilization ?? 0) : 0;
    before = current;
    at = performance.now();
    return latest;
  };
}

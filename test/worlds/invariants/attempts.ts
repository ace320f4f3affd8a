/**
 * Rules: an attempt that may have been started keeps its token, because Athena gives the same execution for the same
 * token, but not for hours: Athena then gives an execution of that time. One that is under way is followed to its end.
 * Who creates an attempt leads it, no lease outlives its request, and while it lasts nobody takes the attempt over. A
 * record keeps what its attempt was started for, and its state never goes back. New callers get a report without a data
 * version while the listing before it may be kept.
 */
import { type Invocation, running } from '../invocation.ts';
import type { Parts } from '../parts.ts';
import { judge } from './judge.ts';

/**
 * After an hour, the query of an attempt has ended, if it was started (docs/decisions/0042). One second is subtracted,
 * because the ages of objects in S3 are wrong by up to a second.
 */
const MAY_RUN_MS = 3_600_000 - 1_000;

/** A report is given for this long. A day later, its files and its record are removed. */
const KEPT_MS = 6 * 86_400_000 - 1_000;
/** A lease ends when its request must answer: within 25 s, and a first calls' delay. */
const LONGEST_LEASE_MS = 26_000;

/** Release 1.0.0 has other records, two folders deep. */
const isOfReleaseBefore = (key: string): boolean => key.split('/').length > 2;

/** Files are written, and so is the record, within this time after it is known for how long a report is good. */
const WRITTEN_MS = 3_000;

type Times = { readonly [name in 'leaseMs' | 'elapsedMs' | 'goodForMs']?: number };
type Written = Times & { readonly state: string; readonly attempt: string; readonly executionId?: string };

/** A record as it is stored: who wrote it, when its lease ends, and since when Athena has had its query. */
interface Latest {
  readonly written: Written;
  readonly by: Invocation | undefined;
  readonly leasedUntil: number;
  readonly beganAt: number;
}

/** The states in their order. No record goes back to an earlier one. */
const STATES = ['starting', 'under-way', 'publishing', 'failed', 'done'];
/** What all records of an attempt say alike. */
const lasting = (record: object): string =>
  JSON.stringify(
    ['fingerprint', 'attempts', 'isRetry', 'limit', 'follows'].map((name) => Reflect.get(record, name)),
  );

export function attemptsRule({ world, s3, athena }: Parts): void {
  const latest = new Map<string, Latest>();
  s3.onCreated.push((key, { document }) => {
    if (!key.startsWith('jobs/') || isOfReleaseBefore(key)) return;
    const written = document as Written;
    const { state, attempt, leaseMs, elapsedMs = 0, goodForMs, executionId = '' } = written;
    const { written: was, beganAt, leasedUntil = 0, by: lastWriter } = latest.get(key) ?? {};
    const [at, by] = [world.time.now(), running.getStore()];
    const [isSame, knownMs] = [attempt === was?.attempt, at - (beganAt ?? at)];
    // If Athena knows the token for another query, a request whose time is up leaves a new token to the next request.
    const isForeign = was !== undefined && athena.tokensOfOthers.has(was.attempt);
    const isNew = state === 'starting' && !isSame && !isForeign;
    if (isNew) athena.creators.set(attempt, by?.id ?? '');
    latest.set(key, { written, by, beganAt: at - elapsedMs, leasedUntil: at + (leaseMs ?? 0) });
    const mayRunMs = was?.state === 'under-way' ? KEPT_MS : was?.state === 'starting' ? MAY_RUN_MS : 0;
    const query = athena.queries.get(executionId);
    // Only the write of the query's end sets the time. A publication keeps it.
    const hasStartedQuery = was?.state === 'under-way' && query?.startedBy === by && by?.faults.length === 0;
    const leftMs = world.plan.settings.listingSeconds * 1_000 - (at - (query?.submittedAt ?? at));
    const findings = {
      'lease-of-another-length': (isNew && leaseMs === undefined) || (leaseMs ?? 0) > LONGEST_LEASE_MS,
      'taken-over-early': was?.leaseMs !== undefined && by !== lastWriter ? at < leasedUntil : undefined,
      'old-token-used': was?.state === 'starting' && isSame && knownMs > MAY_RUN_MS + 2 * LONGEST_LEASE_MS,
      'good-for-too-long':
        goodForMs !== undefined && hasStartedQuery ? goodForMs > leftMs + WRITTEN_MS : undefined,
      'attempt-changes': isSame && was && (isOther(was, written) || lasting(was) !== lasting(written)),
      'attempt-dropped': was && !isForeign && !isSame && knownMs < mayRunMs,
    };
    judge(
      world,
      findings,
      () =>
        `${key}: after ${was?.attempt} comes ${attempt}, leased for ${leaseMs} ms; the lease before had ${leasedUntil - at} ms left`,
    );
  });
}

/** Whether a record goes back to an earlier state, or is about another execution. */
const isOther = (was: Written, now: Written): boolean =>
  STATES.indexOf(now.state) < STATES.indexOf(was.state) ||
  (was.executionId !== undefined && was.executionId !== now.executionId);

/** An attempt that may have been started keeps its token, for which Athena gives the same execution. */
import type { Parts } from './parts.ts';

/**
 * After this time, the query of an attempt has ended, if it was started (docs/decisions/0042). It is a second less than an
 * hour, as S3's ages are wrong by up to a second.
 */
const MAY_RUN_MS = 3_600_000 - 1_000;

export function attemptsRule({ world, s3 }: Pick<Parts, 'world' | 's3'>): void {
  const latest = new Map<string, { readonly state: string; readonly attempt: string; readonly at: number }>();
  s3.onCreated.push((key, { document }) => {
    if (!key.startsWith('jobs/')) return;
    const { state, attempt } = document as { readonly state: string; readonly attempt: string };
    const was = latest.get(key);
    const at = world.time.now();
    latest.set(key, { state, attempt, at });
    if (was?.state === 'starting' && attempt !== was.attempt && at - was.at < MAY_RUN_MS)
      world.violate('attempt-dropped', `${key}: ${was.attempt} may be under way, ${attempt} takes its place`);
  });
}

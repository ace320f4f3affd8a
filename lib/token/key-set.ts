import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';

/** The key set could not be read: our fault, never the caller's. */
export class KeySetUnavailable extends Error {}

export interface KeySetParts {
  /** Reads the provider's key set; throws where it can't. */
  readonly read: () => Promise<unknown>;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

/** A withdrawn key is good for so long in a function that runs on; providers announce new keys days before. */
const FRESH_MS = 600_000;

/** While the key server can't be reached, its keys are good for so long. */
const LONGEST_KEPT_MS = 3_600_000;

/** Whoever makes up keys' names makes us ask for the key set, but no more often than this. */
const PAUSE_BETWEEN_READS_MS = 2_000;

interface ReadKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly readAt: number;
}

/**
 * The provider's signing keys, by the `kid` of a token. They are read when first needed, when they are old, and when a
 * token names a key that isn't among them: then at once or, if they were read a moment ago, after a short pause, so
 * that a token of a new key is never refused because of somebody else's with an invented one. Requests that need the
 * set at one time share one reading of it. Throws KeySetUnavailable, or jose's error where there is no such key.
 */
export function keySet({ read, now, pause }: KeySetParts): JWTVerifyGetKey {
  let keys: ReadKeys | undefined;
  let reading: Promise<ReadKeys> | undefined;

  const readAnew = async (): Promise<ReadKeys> => {
    const sinceLast = keys ? now() - keys.readAt : PAUSE_BETWEEN_READS_MS;
    if (sinceLast < PAUSE_BETWEEN_READS_MS) await pause(PAUSE_BETWEEN_READS_MS - sinceLast);
    const answer = await read();
    try {
      keys = { find: createLocalJWKSet(answer as JSONWebKeySet), readAt: now() };
    } catch (cause) {
      throw new KeySetUnavailable('The key server answers with no key set', { cause });
    }
    return keys;
  };
  const readOnce = () => {
    reading ??= readAnew().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const current = async (): Promise<ReadKeys> => {
    const age = keys ? now() - keys.readAt : Number.POSITIVE_INFINITY;
    if (keys && age < FRESH_MS) return keys;
    const old = keys;
    return readOnce().catch((error: unknown) => {
      if (old && age < LONGEST_KEPT_MS) return old;
      throw error;
    });
  };

  return async (header, token) => {
    // Without it, any key of the right kind would do.
    if (typeof header.kid !== 'string') throw new errors.JWKSNoMatchingKey();
    const known = await current();
    try {
      return await known.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const { find } = await readOnce();
      return find(header, token);
    }
  };
}

import { JwksValidationError, JwkValidationError } from 'aws-jwt-verify/error';
import { type Jwks, SimpleJwksCache } from 'aws-jwt-verify/jwk';

/** The key set could not be read: our fault, never the caller's. */
export class KeySetUnavailable extends Error {}

export interface KeySetParts {
  /** Reads the provider's key set; throws KeySetUnavailable where it can't. */
  readonly read: (uri: string) => Promise<ArrayBuffer>;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

/**
 * How long a key set is used before it is read again. A withdrawn key stays good for that time in a function that runs
 * on; providers announce new keys days before.
 */
const FRESH_MS = 600_000;

/** While the key server can't be reached, keys that were read before stay good for so long. */
const LONGEST_KEPT_MS = 3_600_000;

/** A token with an invented key id makes us read the key set again, but no more often than this. */
const PAUSE_BETWEEN_READS_MS = 2_000;

/**
 * The library's cache of one provider's signing keys, with an age. They are read when first needed, when they are old,
 * and when a token names a key that isn't among them: then at once or, if they were read a moment ago, after a short
 * pause, so that a token of a new key is never refused because of somebody else's with an invented one. Requests that
 * need the set at one time share one reading of it. Throws KeySetUnavailable, or the library's error where there is no
 * such key.
 */
export class KeySet extends SimpleJwksCache {
  readonly #now: () => number;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor({ read, now, pause }: KeySetParts) {
    let pausing: Promise<unknown> | undefined;
    // The library would refuse every unknown key for ten seconds. Here they wait for the pause, and share one reading.
    const wait = async () => {
      const left = PAUSE_BETWEEN_READS_MS - this.#age();
      if (left > 0)
        pausing ??= pause(left).finally(() => {
          pausing = undefined;
        });
      await pausing;
    };
    super({
      fetcher: { fetch: read },
      penaltyBox: { wait, registerFailedAttempt: () => {}, registerSuccessfulAttempt: () => {} },
    });
    this.#now = now;
  }

  override async getJwk(...[uri, token]: Parameters<SimpleJwksCache['getJwk']>) {
    const age = this.#age();
    if (age >= FRESH_MS)
      await this.getJwks(uri).catch((error: unknown) => {
        if (age >= LONGEST_KEPT_MS) throw error;
      });
    return super.getJwk(uri, token);
  }

  override async getJwks(uri: string): Promise<Jwks> {
    const keys = await super.getJwks(uri).catch((cause: unknown) => {
      if (cause instanceof JwksValidationError || cause instanceof JwkValidationError)
        throw new KeySetUnavailable('The key server answers with no key set', { cause });
      throw cause;
    });
    this.#readAt = this.#now();
    return keys;
  }

  #age(): number {
    return this.#now() - this.#readAt;
  }
}

import { JwksValidationError, JwkValidationError, JwtWithoutValidKidError } from 'aws-jwt-verify/error';
import { type Jwks, SimpleJwksCache } from 'aws-jwt-verify/jwk';

/** The key set could not be read: our fault, never the caller's. */
export class KeySetUnavailable extends Error {}

export interface KeySetParts {
  /** Reads the provider's key set; throws KeySetUnavailable where it can't. */
  readonly read: (uri: string) => Promise<ArrayBuffer>;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * How long a key set is used before it is read again. A withdrawn key stays good for that time in a function that runs
 * on; providers announce new keys days before.
 */
const FRESH_MS = 600_000;

/** How long cached keys stay valid while the key server can't be reached. */
const LONGEST_KEPT_MS = 3_600_000;

/** Minimum time between two reads of the key set. Without it, each token with an invented key id would cause a read. */
const PAUSE_BETWEEN_READS_MS = 10_000;

/**
 * The minimum time after a failed read. It is shorter, because until the next read a function without keys answers 500
 * to everybody.
 */
const PAUSE_AFTER_FAILURE_MS = 2_000;

/**
 * The library's cache of one provider's signing keys, with an age. They are read when first needed, when they are old,
 * and when a token names a key that isn't among them, unless they were read a moment ago: such a token is refused at
 * once. Requests that need the set at one time share one reading of it. Throws KeySetUnavailable, or the library's
 * error where there is no such key.
 */
export class KeySet extends SimpleJwksCache {
  readonly #now: () => number;
  #readAt = Number.NEGATIVE_INFINITY;
  #failure: { readonly at: number; readonly error: unknown } | undefined;

  constructor({ read, now }: KeySetParts) {
    super({ fetcher: { fetch: read } });
    this.#now = now;
  }

  override async getJwk(...[uri, token]: Parameters<SimpleJwksCache['getJwk']>) {
    const age = this.#now() - this.#readAt;
    const isKnown = this.#has(uri, token);
    if (age >= (isKnown ? FRESH_MS : PAUSE_BETWEEN_READS_MS))
      await this.getJwks(uri).catch((error: unknown) => {
        if (!isKnown || age >= LONGEST_KEPT_MS) throw error;
      });
    return this.getCachedJwk(uri, token);
  }

  /** After a failed reading, requests within `PAUSE_AFTER_FAILURE_MS` get its error: none of them asks the key server. */
  override async getJwks(uri: string): Promise<Jwks> {
    if (this.#failure && this.#now() - this.#failure.at < PAUSE_AFTER_FAILURE_MS) throw this.#failure.error;
    try {
      const keys = await super.getJwks(uri);
      this.#readAt = this.#now();
      this.#failure = undefined;
      return keys;
    } catch (cause) {
      const error =
        cause instanceof JwksValidationError || cause instanceof JwkValidationError
          ? new KeySetUnavailable('The key server answers with no key set', { cause })
          : cause;
      this.#failure = { at: this.#now(), error };
      throw error;
    }
  }

  #has(...[uri, token]: Parameters<SimpleJwksCache['getCachedJwk']>): boolean {
    try {
      return this.getCachedJwk(uri, token) !== undefined;
    } catch (error) {
      // A token that names no key: no reading of the set can help it.
      if (error instanceof JwtWithoutValidKidError) throw error;
      return false;
    }
  }
}

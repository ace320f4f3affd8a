import { JwksValidationError, JwkValidationError, JwtWithoutValidKidError } from 'aws-jwt-verify/error';
import { type Jwks, SimpleJwksCache } from 'aws-jwt-verify/jwk';
import { isYounger } from '../report/utc-time.ts';

/** The key set could not be read. This is our fault, never the caller's. */
export class KeySetUnavailable extends Error {}

/** How long a key set is used before it is read again. A withdrawn key is accepted for that time. */
const FRESH_MS = 600_000;

/** How long cached keys stay valid while the key server can't be reached. */
const LONGEST_KEPT_MS = 3_600_000;

/** Minimum time between two reads of the key set. Without it, each token with an invented key id would cause a read. */
const PAUSE_BETWEEN_READS_MS = 10_000;

/** The same after a failed read: shorter, because a function without keys answers 500 to everybody. */
const PAUSE_AFTER_FAILURE_MS = 2_000;

/**
 * The library's cache of one provider's signing keys. This class adds a limit to the age of the keys. The keys are read
 * when they are first needed, when they are old, and when a token names an unknown key. If they were read a moment ago,
 * a token with an unknown key is refused at once. Requests that need the keys at the same time share one read. Throws
 * KeySetUnavailable, or the library's error if there is no such key.
 */
export class KeySet extends SimpleJwksCache {
  readonly #now: () => number;
  #readAt = Number.NEGATIVE_INFINITY;
  #failure: { readonly at: number; readonly error: unknown } | undefined;

  /** @param read reads the provider's key set; throws KeySetUnavailable if it can't */
  constructor({ read, now }: { read: (uri: string) => Promise<ArrayBuffer>; now: () => number }) {
    super({ fetcher: { fetch: read } });
    this.#now = now;
  }

  override async getJwk(...[uri, token]: Parameters<SimpleJwksCache['getJwk']>) {
    const now = this.#now();
    const isYoungerThan = (limitMs: number) => isYounger(this.#readAt, limitMs, now);
    const isKnown = this.#has(uri, token);
    if (!isYoungerThan(isKnown ? FRESH_MS : PAUSE_BETWEEN_READS_MS))
      await this.getJwks(uri).catch((error: unknown) => {
        if (!isKnown || !isYoungerThan(LONGEST_KEPT_MS)) throw error;
      });
    return this.getCachedJwk(uri, token);
  }

  /** Shortly after a failed read, requests get that read's error, and none of them asks the key server. */
  override async getJwks(uri: string): Promise<Jwks> {
    if (this.#failure && isYounger(this.#failure.at, PAUSE_AFTER_FAILURE_MS, this.#now()))
      throw this.#failure.error;
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
      // The token names no key, so it would not help to read the set again.
      if (error instanceof JwtWithoutValidKidError) throw error;
      return false;
    }
  }
}

/**
 * The caller who was chosen at one moment. If the user chooses another caller while an answer is under way, the page
 * does not show the answer to that caller.
 */
export interface Caller {
  /** Differs between callers. It stays in memory. */
  readonly key: string;
  /** Resolves to an access token: the pasted one, or a new one for the sample partner. Rejects if there is none. */
  token(): Promise<string>;
}

/**
 * Who asks, as chosen at one moment. If another caller is chosen while an answer is under way, the answer is not
 * shown to that caller.
 */
export interface Caller {
  /** Tells one caller from another. It stays in memory. */
  readonly key: string;
  /** A token to ask with: the pasted one, or one of the sample partner's. Rejects where there is none. */
  token(): Promise<string>;
}

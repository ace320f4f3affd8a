/**
 * The caller who was chosen at one moment. If an answer arrives after the user has chosen another caller, the page does
 * not show it. A report is the exception: the page shows it, and marks it as the answer to an earlier question.
 */
export interface Caller {
  /** Differs between callers. It stays in memory. */
  readonly key: string;
  /** The id of the client that the token was issued to; empty if the token does not tell. */
  readonly id: string;
  /** Resolves to an access token: the pasted one, or a new one for the sample partner. Rejects if there is none. */
  token(): Promise<string>;
}

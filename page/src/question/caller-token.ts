/**
 * The caller who was chosen at one moment. If the user has chosen another caller when an answer arrives, the page does
 * not show the answer. Only a report is shown, marked as an answer to an earlier question.
 */
export interface Caller {
  /** Differs between callers. It stays in memory. */
  readonly key: string;
  /** Resolves to an access token: the pasted one, or a new one for the sample partner. Rejects if there is none. */
  token(): Promise<string>;
}

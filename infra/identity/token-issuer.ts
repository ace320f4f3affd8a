/** Who issues the tokens that the API takes. */
export interface TokenIssuer {
  /** As it stands in the tokens' `iss`. */
  readonly issuer: string;
  readonly jwksUri: string;
  /** Where callers request tokens. */
  readonly tokenUrl: string;
  /** What every token must carry beside the scope. */
  readonly requiredClaim?: { readonly name: string; readonly value: string };
}

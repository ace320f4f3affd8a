/**
 * How callers get access, as the operator says it to anyone. Both addresses are of plain characters alone: the page puts
 * them into programs as they stand, and a shell must find nothing in them to run.
 */
export interface Access {
  /** Where access tokens come from. */
  readonly tokenEndpoint?: string;
  /** Whom to ask: an e-mail address, or the address of a page. */
  readonly contact?: string;
}

const PLAIN_URL = /^https?:\/\/[\w.-]+(?::\d+)?(?:[/?#][\w.~:/?#&=%+,@-]*)?$/;
const PLAIN_EMAIL = /^[\w+-]+(?:\.[\w+-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/i;

const isPlainUrl = (text: string): boolean => PLAIN_URL.test(text) && URL.canParse(text);

/** Whether it can be a token endpoint. That it has TLS, a stage is asked for (`infra/stage.ts`). */
export const isTokenEndpoint = (text: string): boolean => isPlainUrl(text) && !text.includes('#');

export const isContact = (text: string): boolean =>
  PLAIN_EMAIL.test(text) || (text.startsWith('https:') && isPlainUrl(text));

/** What is expected, for whoever set something else. */
export const TOKEN_ENDPOINT_FORM =
  "the token endpoint as the identity provider's documentation or its /.well-known/openid-configuration names it: a URL without blanks, quotes, user and fragment";
export const CONTACT_FORM =
  'an e-mail address without a name or mailto: (reports@example.com), or the https URL of a page';

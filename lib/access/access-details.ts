/** How callers get access. Public; plain characters only, because the page puts both into commands. */
export interface Access {
  readonly tokenEndpoint?: string;
  /** Whom to ask for access: an e-mail address, or the URL of a page. */
  readonly contact?: string;
}

const PLAIN_URL = /^https?:\/\/[\w.-]+(?::\d+)?(?:[/?#][\w.~:/?#&=%+,@-]*)?$/;
const PLAIN_EMAIL = /^[\w+-]+(?:\.[\w+-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/i;

const isPlainUrl = (text: string): boolean => PLAIN_URL.test(text) && URL.canParse(text);

/** Whether the text can be a token endpoint. `infra/stage.ts` also requires TLS. */
export const isTokenEndpoint = (text: string): boolean => isPlainUrl(text) && !text.includes('#');

export const isContact = (text: string): boolean =>
  PLAIN_EMAIL.test(text) || (text.startsWith('https:') && isPlainUrl(text));

export const TOKEN_ENDPOINT_FORM =
  "the token endpoint as the identity provider's documentation or its /.well-known/openid-configuration names it: a URL without blanks, quotes, user and fragment";
export const CONTACT_FORM =
  'an e-mail address without a name or mailto: (reports@example.com), or the https URL of a page';

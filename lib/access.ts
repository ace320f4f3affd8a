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
const THIS_MACHINE = ['127.0.0.1', 'localhost'];

const isPlainHttps = (text: string): boolean =>
  PLAIN_URL.test(text) && URL.canParse(text) && new URL(text).protocol === 'https:';

/** Whether it can be a token endpoint. Client secrets are sent there: without TLS only within one machine. */
export function isTokenEndpoint(text: string): boolean {
  if (!PLAIN_URL.test(text) || !URL.canParse(text) || text.includes('#')) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || THIS_MACHINE.includes(hostname);
}

export const isContact = (text: string): boolean => PLAIN_EMAIL.test(text) || isPlainHttps(text);

/** What is expected, for whoever set something else. */
export const TOKEN_ENDPOINT_FORM =
  "an https URL without blanks, quotes, user and fragment, as the identity provider's documentation or its /.well-known/openid-configuration names its token endpoint";
export const CONTACT_FORM =
  'an e-mail address without a name or mailto: (reports@example.com), or the https URL of a page';

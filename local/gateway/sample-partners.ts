import type { IncomingMessage, ServerResponse } from 'node:http';

/** A sample partner of this machine, as the page offers it. */
interface SamplePartner {
  readonly clientId: string;
  /** Which rows it sees, in words. */
  readonly sees: string;
}

export interface SamplePartners {
  readonly partners: readonly SamplePartner[];
  /** The day, `YYYY-MM-DD`, up to which there are events. */
  lastDay(): Promise<string>;
  /** Resolves to an access token for that partner. */
  token(clientId: string): Promise<string>;
}

const PATH = '/.local/partners';

/**
 * Answers what the page asks on this machine alone; deployed, there is no such path. `GET /.local/partners` lists the
 * sample partners, `POST /.local/partners/{client id}/token` fetches a token for one. Returns whether it has answered.
 */
export async function answerSamplePartners(
  { partners, lastDay, token }: SamplePartners,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<boolean> {
  // Against DNS rebinding: a page of another host name that resolves to this machine must not get a token.
  if (!path.startsWith(PATH) || !isThisMachine(request.headers.host)) return false;
  const send = (body: object) => {
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
    return true;
  };
  if (request.method === 'GET' && path === PATH) return send({ partners, lastDay: await lastDay() });
  const asked = partners.find(({ clientId }) => path === `${PATH}/${clientId}/token`);
  if (request.method !== 'POST' || !asked) return false;
  return send({ accessToken: await token(asked.clientId) });
}

const isThisMachine = (host = ''): boolean => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host);

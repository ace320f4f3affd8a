import type { IncomingMessage, ServerResponse } from 'node:http';
import { accessToken, type TokenRequest } from '../access-token.ts';
import { nameOf } from '../serve.ts';

/** A sample partner of this machine, as the page lists it. */
export interface SamplePartner extends TokenRequest {
  /** The rows that the partner sees, in words. */
  readonly sees: string;
}

const PATH = '/.local/partners';

const THIS_MACHINE = ['127.0.0.1', 'localhost'];

/**
 * Answers two requests that the page makes only on this machine. `GET /.local/partners` lists the sample partners, and
 * the last day with events (`YYYY-MM-DD`). `POST /.local/partners/{client id}/token` fetches a token for one partner.
 * Resolves to whether it has answered.
 */
export async function answerSamplePartners(
  partners: readonly SamplePartner[],
  lastDay: () => Promise<string>,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<boolean> {
  // This prevents DNS rebinding: a page whose host name resolves to this machine must not get a token.
  if (!path.startsWith(PATH) || !THIS_MACHINE.includes(nameOf(request.headers.host))) return false;
  const send = (body: object) => {
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
    return true;
  };
  const listed = partners.map(({ clientId, sees }) => ({ clientId, sees }));
  if (request.method === 'GET' && path === PATH) return send({ partners: listed, lastDay: await lastDay() });
  const partner = partners.find(({ clientId }) => path === `${PATH}/${clientId}/token`);
  if (request.method !== 'POST' || !partner) return false;
  return send({ accessToken: await accessToken(partner) });
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { type Clients, makeClients } from '../../../lib/aws/clients.ts';
import { serve } from '../../../local/serve.ts';

/** A stand-in for an AWS service. A test decides how it answers, and sees the requests that it got. */
export interface AnsweringServer {
  readonly clients: Clients;
  /** Method and path of each request, for example `GET /results/jobs/1.json`. */
  readonly requests: string[];
  /** The body of each request, in the same order. */
  readonly bodies: string[];
  /** Answers the next requests. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Starts a stand-in for an AWS service on loopback, with the functions' own clients for it. */
export async function startAnsweringServer(): Promise<AnsweringServer> {
  const requests: string[] = [];
  const bodies: string[] = [];
  const server = await serve(async (request, response) => {
    requests.push(`${request.method} ${new URL(request.url ?? '', 'http://any').pathname}`);
    // Node adds its own `Date` header unless this is false.
    response.sendDate = false;
    bodies.push(await text(request));
    answering.answer(request, response);
  });
  // As on Lambda, the environment gives region, credentials and endpoints.
  vi.stubEnv('AWS_ENDPOINT_URL', server.url);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const clients = makeClients();
  const answering: AnsweringServer = {
    clients,
    requests,
    bodies,
    answer: (_, response) => void response.writeHead(501).end(),
    async close() {
      for (const client of Object.values(clients)) client.destroy();
      vi.unstubAllEnvs();
      await server.close();
    },
  };
  return answering;
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { ValiError } from 'valibot';
import type { FaultInput, Faults } from './faults.ts';

export interface FaultControl {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the faults over HTTP, to set them by hand. PUT sets a JSON list, GET reads the list, and DELETE removes all
 * faults.
 */
export async function startFaultControl(faults: Faults): Promise<FaultControl> {
  const server = createServer(async (request, response) => {
    try {
      if (request.method === 'PUT') faults.set((await json(request)) as FaultInput[]);
      else if (request.method === 'DELETE') faults.set([]);
      response.end(`${JSON.stringify(faults.current(), null, 2)}\n`);
    } catch (error) {
      const faulty = error instanceof ValiError || error instanceof SyntaxError;
      response.writeHead(faulty ? 400 : 500).end(`${error instanceof Error ? error.message : error}\n`);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

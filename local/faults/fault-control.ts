import { json } from 'node:stream/consumers';
import { ValiError } from 'valibot';
import { type Listener, serve } from '../serve.ts';
import type { FaultInput, Faults } from './faults.ts';

/**
 * Serves the faults over HTTP, to set them by hand. PUT sets a JSON list, GET reads the list, and DELETE removes all
 * faults.
 */
export const startFaultControl = (faults: Faults): Promise<Listener> =>
  serve(async (request, response) => {
    try {
      if (request.method === 'PUT') faults.set((await json(request)) as FaultInput[]);
      else if (request.method === 'DELETE') faults.set([]);
      response.end(`${JSON.stringify(faults.current(), null, 2)}\n`);
    } catch (error) {
      const faulty = error instanceof ValiError || error instanceof SyntaxError;
      response.writeHead(faulty ? 400 : 500).end(`${error instanceof Error ? error.message : error}\n`);
    }
  });

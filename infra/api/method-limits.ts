import { ROUTE_METHODS, routes } from '../../lib/routes.ts';
import { serviceFunctions } from './service-functions.ts';

/** A token bucket of API Gateway's: it holds `burst` requests, and is filled by `requestsPerSecond`. */
export interface MethodLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Of a route's executions, what GET gets. HEAD makes a report as GET does, but hardly anybody asks so. */
const PART_OF_GET = 0.95;

/** API Gateway takes a fraction of a request a second, and no fraction of a burst. */
const LEAST = { requestsPerSecond: 0.01, burst: 1 } as const;

/**
 * The limit of each method that waits for nothing: the page, the descriptions, preflights, what is not found. Each holds
 * an execution for some hundredths of a second. A browser loads the page's files at once.
 */
export const LIMIT_AT_ONCE: MethodLimit = { requestsPerSecond: 10, burst: 6 };

/** Of a method's executions, what requests that come at once get; the rest is for those that come one after the other. */
const PART_OF_BURST = 0.25;

function limitOf(executions: number, waitsSeconds: number): MethodLimit {
  const burst = Math.max(LEAST.burst, Math.floor(executions * PART_OF_BURST));
  const rate = Math.floor((100 * (executions - burst)) / waitsSeconds) / 100;
  return { burst, requestsPerSecond: Math.max(LEAST.requestsPerSecond, rate) };
}

/**
 * The limits of the methods whose requests may wait, by path and method: `/reporting/publisherperformance/GET`. API Gateway
 * limits each method by itself ("Throttle requests to your REST APIs" in its Developer Guide), so the executions are
 * divided among them (`load` of `service-functions.ts`). A method holds at most its burst and, while these requests wait,
 * what its rate adds.
 *
 * @param executions of Lambda that the requests of all methods may hold at one time
 */
export const limitsOfWaiting = (executions: number): ReadonlyMap<string, MethodLimit> =>
  new Map(
    routes.flatMap(({ path, functionName }) => {
      const load = serviceFunctions.find(({ name }) => name === functionName)?.load;
      if (!load) return [];
      return ROUTE_METHODS.map((method) => {
        const part = load.part * (method === 'GET' ? PART_OF_GET : 1 - PART_OF_GET);
        return [`${path}/${method}`, limitOf(executions * part, load.waitsSeconds)] as const;
      });
    }),
  );

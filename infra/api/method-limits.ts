import { PREFLIGHT_METHOD, routes } from '../../lib/routes.ts';
import { serviceFunctions } from './service-functions.ts';

/** A token bucket of API Gateway's: it holds `burst` requests, and is filled by `requestsPerSecond`. */
export interface MethodLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Of a route's executions, what GET gets. HEAD makes a report as GET does, but hardly anybody asks so. */
const PART_OF_GET = 0.98;

/** API Gateway takes a fraction of a request a second, and no fraction of a burst. */
const LEAST = { requestsPerSecond: 0.01, burst: 1 } as const;

/**
 * What waits for nothing holds an execution for some hundredths of a second: the descriptions and the page, whose files a
 * browser loads at once; preflights; and all other paths and methods, each of them. These are of a stage of 1,000
 * executions; a larger one has more in proportion, a smaller one no less.
 */
const AT_ONCE: MethodLimit = { requestsPerSecond: 20, burst: 20 };
const PREFLIGHT: MethodLimit = { requestsPerSecond: 10, burst: 6 };
const OTHERS: MethodLimit = { requestsPerSecond: 5, burst: 2 };

function scaled({ requestsPerSecond, burst }: MethodLimit, executions: number): MethodLimit {
  const times = Math.max(1, executions / 1_000);
  return { requestsPerSecond: requestsPerSecond * times, burst: Math.floor(burst * times) };
}

/** The limit of each method that `limitsOfRoutes` does not name. */
export const limitOfOthers = (executions: number): MethodLimit => scaled(OTHERS, executions);

/** Of a method's executions, what requests that come at once get; the rest is for those that come one after the other. */
const PART_OF_BURST = 0.25;

function limitOf(executions: number, waitsSeconds: number): MethodLimit {
  const burst = Math.max(LEAST.burst, Math.floor(executions * PART_OF_BURST));
  const rate = Math.floor((100 * (executions - burst)) / waitsSeconds) / 100;
  return { burst, requestsPerSecond: Math.max(LEAST.requestsPerSecond, rate) };
}

/**
 * The limits of the routes' methods, by path and method: `/reporting/publisherperformance/GET`. API Gateway limits each
 * method by itself ("Throttle requests to your REST APIs" in its Developer Guide), so the executions are divided among the
 * methods whose requests may wait (`load` of `service-functions.ts`). A method holds at most its burst and, while these
 * requests wait, what its rate adds.
 *
 * @param executions of Lambda that the requests of all methods may hold at one time
 */
export const limitsOfRoutes = (executions: number): ReadonlyMap<string, MethodLimit> =>
  new Map(
    routes.flatMap(({ path, functionName }) => {
      const load = serviceFunctions.find(({ name }) => name === functionName)?.load;
      const held = (part: number) => load && limitOf(executions * load.part * part, load.waitsSeconds);
      return [
        [`${path}/GET`, held(PART_OF_GET) ?? scaled(AT_ONCE, executions)] as const,
        [`${path}/HEAD`, held(1 - PART_OF_GET) ?? limitOfOthers(executions)] as const,
        [`${path}/${PREFLIGHT_METHOD}`, scaled(load ? PREFLIGHT : OTHERS, executions)] as const,
      ];
    }),
  );

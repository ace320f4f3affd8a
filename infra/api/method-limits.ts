import { PREFLIGHT_METHOD, routes } from '../../lib/routes.ts';
import { serviceFunctions } from './service-functions.ts';

/** A token bucket of API Gateway. It holds `burst` requests, and `requestsPerSecond` fills it again. */
export interface MethodLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** GET's share of a route's executions. HEAD makes a report as GET does, but hardly anybody uses it. */
const PART_OF_GET = 0.98;

/** The lowest limits. API Gateway accepts a fraction for the rate, but not for the burst. */
const LEAST = { requestsPerSecond: 0.01, burst: 1 } as const;

/**
 * The limit of GET on the descriptions and the page, whose files a browser loads at once. This limit and the next two
 * are for methods that hold an execution for some hundredths of a second. The numbers are for a stage of 1,000
 * executions. The limits of a larger stage are proportionally higher. A smaller stage has these limits too.
 */
const AT_ONCE: MethodLimit = { requestsPerSecond: 20, burst: 20 };
/** The limit of preflights on a route whose requests wait. */
const PREFLIGHT: MethodLimit = { requestsPerSecond: 10, burst: 6 };
/** The limit of each other method that waits for nothing. */
const OTHERS: MethodLimit = { requestsPerSecond: 5, burst: 2 };

function scaled({ requestsPerSecond, burst }: MethodLimit, executions: number): MethodLimit {
  const times = Math.max(1, executions / 1_000);
  return { requestsPerSecond: requestsPerSecond * times, burst: Math.floor(burst * times) };
}

/** The limit of each method that `limitsOfRoutes` does not name. */
export const limitOfOthers = (executions: number): MethodLimit => scaled(OTHERS, executions);

/** The share of a method's executions that its burst may take. The rest is for its steady rate. */
const PART_OF_BURST = 0.25;

function limitOf(executions: number, waitsSeconds: number): MethodLimit {
  const burst = Math.max(LEAST.burst, Math.floor(executions * PART_OF_BURST));
  const rate = Math.floor((100 * (executions - burst)) / waitsSeconds) / 100;
  return { burst, requestsPerSecond: Math.max(LEAST.requestsPerSecond, rate) };
}

/**
 * The limits of the routes' methods, by path and method: `/reporting/publisherperformance/GET`. API Gateway limits each
 * method by itself ("Throttle requests to your REST APIs" in its Developer Guide), so the executions are divided among
 * the methods whose requests may wait (`load` of `service-functions.ts`). A method's requests hold at most the
 * executions of its burst, and those that its rate adds while requests wait.
 *
 * @param executions how many Lambda executions the requests of all methods may hold at one time
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

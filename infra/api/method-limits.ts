import { reports } from '../../lib/report/catalogue.ts';
import { PREFLIGHT_METHOD, reportPath, routes } from '../../lib/routes.ts';
import { serviceFunctions } from './service-functions.ts';

/** A token bucket of API Gateway. It holds `burst` requests, and `requestsPerSecond` fills it again. */
export interface MethodLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** GET's share of a route's executions. HEAD makes a report as GET does, but hardly anybody uses it. */
const PART_OF_GET = 0.98;

/** HEAD of a report has at least this limit: an honest program asks for some reports at once, and for few in all. */
const LEAST_HEADS: MethodLimit = { requestsPerSecond: 1, burst: 5 };

/**
 * The lowest limit of the other methods whose requests wait. Two honest requests may come at once, but a stage of fewer
 * than 100 executions can't let both wait.
 */
const leastOf = (executions: number): MethodLimit =>
  executions < 100 ? { requestsPerSecond: 0.05, burst: 1 } : { requestsPerSecond: 0.2, burst: 2 };

/**
 * The limit of GET on the descriptions and the page, whose files a browser loads at once. This limit and the next two
 * are for methods that hold an execution for some hundredths of a second. The numbers are for a stage of 1,000
 * executions. The limits of a larger stage are proportionally higher. A smaller stage has these limits too, but no burst
 * takes more than half of its executions.
 */
const AT_ONCE: MethodLimit = { requestsPerSecond: 20, burst: 10 };
/** The limit of preflights on a route whose requests wait. */
const PREFLIGHT: MethodLimit = { requestsPerSecond: 10, burst: 3 };
/** The limit of each other method that waits for nothing. */
const OTHERS: MethodLimit = { requestsPerSecond: 5, burst: 3 };

function scaled({ requestsPerSecond, burst }: MethodLimit, executions: number): MethodLimit {
  const times = Math.max(1, executions / 1_000);
  return {
    requestsPerSecond: requestsPerSecond * times,
    burst: Math.min(Math.floor(burst * times), Math.floor(executions / 2)),
  };
}

/** The limit of each method that `limitsOfRoutes` does not name. */
export const limitOfOthers = (executions: number): MethodLimit => scaled(OTHERS, executions);

/** The share of a method's executions that its burst may take. The rest is for its steady rate. */
const PART_OF_BURST = 0.25;

/** The limit of a method whose requests hold at most this many executions, but at least the limit `least`. */
function limitOf(executions: number, waitsSeconds: number, least: MethodLimit): MethodLimit {
  const burst = Math.max(least.burst, Math.floor(executions * PART_OF_BURST));
  const rate = Math.floor((100 * (executions - burst)) / waitsSeconds) / 100;
  return { burst, requestsPerSecond: Math.max(least.requestsPerSecond, rate) };
}

/**
 * The limits of the routes' methods, by path and method: `/reporting/publisherperformance/GET`. API Gateway limits each
 * method by itself ("Throttle requests to your REST APIs" in its Developer Guide), so the executions are divided among
 * the methods whose requests may wait (`load` of `service-functions.ts`). A method's requests hold at most the
 * executions of its burst, and those that its rate adds while requests wait. In a stage of fewer than 1,000 executions,
 * the lowest limits of all methods together may exceed this number.
 *
 * @param executions how many Lambda executions the requests of all methods may hold at one time
 */
export const limitsOfRoutes = (executions: number): ReadonlyMap<string, MethodLimit> =>
  new Map(
    routes.flatMap(({ path, functionName, report }) => {
      const load = serviceFunctions.find(({ name }) => name === functionName)?.load;
      const limitOfPart = (part: number, least: MethodLimit) =>
        load && limitOf(executions * load.part * part, load.waitsSeconds, least);
      const least = leastOf(executions);
      return [
        [`${path}/GET`, limitOfPart(PART_OF_GET, least) ?? scaled(AT_ONCE, executions)] as const,
        [
          `${path}/HEAD`,
          limitOfPart(1 - PART_OF_GET, report ? LEAST_HEADS : least) ?? limitOfOthers(executions),
        ] as const,
        [`${path}/${PREFLIGHT_METHOD}`, scaled(load ? PREFLIGHT : OTHERS, executions)] as const,
      ];
    }),
  );

/** How many requests a second each report's GET accepts. The service tells it to callers. */
export const requestsForAReport = (executions: number): number =>
  Math.min(
    ...reports.map(
      (report) => limitsOfRoutes(executions).get(`${reportPath(report)}/GET`)?.requestsPerSecond ?? 0,
    ),
  );

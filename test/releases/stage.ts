import { eventBridge } from '../worlds/event-bridge.ts';
import { type Answer, gateway } from '../worlds/gateway.ts';
import { runners } from '../worlds/invocation.ts';
import { modelledAthena } from '../worlds/modelled-athena.ts';
import { modelledLake } from '../worlds/modelled-lake.ts';
import { modelledLambda } from '../worlds/modelled-lambda.ts';
import { modelledRegister } from '../worlds/modelled-register.ts';
import { modelledS3 } from '../worlds/modelled-s3.ts';
import type { Plan } from '../worlds/plan.ts';
import { modelledService } from '../worlds/service.ts';
import type { ServiceCode } from '../worlds/service-code.ts';
import { takeOverTime } from '../worlds/virtual-time.ts';
import { BEGINNING, type World } from '../worlds/world.ts';
import { DAY, OTHER_DAY, type Scene } from './scenes.ts';

export const PARTNER = 'p1';
export const COMPANIES = [1, 2];

/**
 * The service of one release on the simulated AWS of `test/worlds`. Only the faults that the scene sets happen.
 *
 * @param seed the seed of random ids and pauses: two releases never draw the same token
 */
export function stage(code: ServiceCode, { settings, engine }: Scene, seed: number) {
  const time = takeOverTime(BEGINNING, seed, runners);
  const plan: Plan = {
    // The time of a machine is never wrong here.
    isMixed: false,
    partners: { [PARTNER]: COMPANIES },
    settings: {
      queriesPerPartner: 0,
      longestQueryMs: 60_000,
      listingSeconds: 0,
      isListed: true,
      keysAPage: 1_000,
      marks: false,
      tooManyDays: Number.POSITIVE_INFINITY,
      raisesLimit: false,
      largeFromDays: Number.POSITIVE_INFINITY,
      ...settings,
    },
    engine: {
      slots: 4,
      queueMs: [0, 0],
      // In milliseconds. A query takes longer than the first request waits (`FIRST_WAIT_MS`).
      runMs: [12_000, 12_000],
      fails: 0,
      hangs: 0,
      hangLimits: 1.3,
      forgets: 0,
      junk: 0,
      elsewhere: 0,
      late: 0,
      gone: 0,
      foreign: 0,
      backAfterMs: [0, 0],
      backQueuedMs: [0, 0],
      tokensKeptMs: 3_600_000,
      ...engine,
    },
    outages: [],
    faults: { rate: 0, only: undefined },
    clocks: { skewMs: 0, wrong: undefined, set: undefined },
    days: [OTHER_DAY, DAY],
    filesADay: 1,
    callers: [],
    lookers: [],
    writers: [],
    operator: [],
  };
  const world: World = {
    seed,
    plan,
    time,
    troubles: { happened: [], kinds: new Set(), happens: (kind) => kind === 'query fails' },
    count: () => {},
    tell: undefined,
    violations: [],
    violate(kind, text) {
      throw new Error(`${kind}: ${text}`);
    },
  };
  const lake = modelledLake(world);
  const s3 = modelledS3(world);
  const athena = modelledAthena(world, lake, s3);
  const register = modelledRegister(world, code);
  const lambda = modelledLambda(world);
  for (const day of plan.days) lake.put(day, 'part-0.parquet');
  register.set(PARTNER, { isActive: true, companies: COMPANIES });
  const backends = { lake, s3, athena, register };
  const ignore = () => {};
  const listeners = { onFile: ignore, onUnderWay: ignore, onMetric: ignore, onLine: ignore };
  const service = modelledService(world, { current: code, before: undefined }, backends, listeners);
  eventBridge(world, s3, lambda, service, ignore);
  const gate = gateway(world, lambda, service);
  let requests = 0;
  return {
    world,
    ...backends,
    lambda,
    /** Requests a URL and follows the redirects. Does not follow the redirect to the report's file. */
    async follow(url: string): Promise<Answer> {
      for (let next = url; ; ) {
        const answer = await gate.get(next, { id: `r${++requests}`, partner: PARTNER, acceptsGzip: false });
        const location = answer.headers['Location'];
        if (location === undefined || location.startsWith('https://results.example/')) return answer;
        next = location;
      }
    },
  };
}

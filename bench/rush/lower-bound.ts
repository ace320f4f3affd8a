/** One report that is requested. */
export interface Demand {
  /** When it is requested, in seconds. */
  readonly asked: number;
  readonly engineSeconds: number;
}

export interface NarrowPlaces {
  /** Queries that the engine runs at a time. */
  readonly slots: number;
  readonly startsPerSecond: number;
  readonly startsAtOnce: number;
  readonly requestsPerSecond: number;
  readonly requestsAtOnce: number;
}

/** The earliest second at which the last report can be delivered, and the bottleneck that sets it. */
export interface LowerBound {
  readonly seconds: number;
  readonly because: string;
}

/**
 * The least time in which any service could deliver these reports. It is computed from the work that must pass through
 * each bottleneck, without the simulation and without the service.
 */
export function lowerBound(demands: readonly Demand[], places: NarrowPlaces): LowerBound {
  const inOrder = [...demands].sort((a, b) => a.asked - b.asked);
  let best: LowerBound = { seconds: 0, because: 'nothing is asked' };
  const atLeast = (seconds: number, because: string) => {
    if (seconds > best.seconds) best = { seconds, because };
  };
  for (const { asked, engineSeconds } of inOrder) atLeast(asked + engineSeconds, 'one report by itself');
  // All reports that are requested at or after a moment must pass through each bottleneck after that moment.
  let count = 0;
  let work = 0;
  for (let index = inOrder.length - 1; index >= 0; index--) {
    const { asked, engineSeconds } = inOrder[index] as Demand;
    count += 1;
    work += engineSeconds;
    atLeast(asked + work / places.slots, 'the engine’s slots');
    atLeast(asked + (count - places.startsAtOnce) / places.startsPerSecond, 'the starts of queries');
    atLeast(asked + (count - places.requestsAtOnce) / places.requestsPerSecond, 'the gateway’s rate');
  }
  return best;
}

/**
 * The second at which the last report is delivered if queries start in order of arrival, each as soon as a slot is free
 * and the quota of starts allows it. A service that does not know how long a query will take can do no better.
 */
export function inOrderOfArrival(
  demands: readonly Demand[],
  { slots, startsPerSecond, startsAtOnce }: Pick<NarrowPlaces, 'slots' | 'startsPerSecond' | 'startsAtOnce'>,
): number {
  const freeAt: number[] = new Array(slots).fill(0);
  let permits = startsAtOnce;
  let clock = 0;
  let last = 0;
  for (const { asked, engineSeconds } of [...demands].sort((a, b) => a.asked - b.asked)) {
    const slot = freeAt.indexOf(Math.min(...freeAt));
    const ready = Math.max(asked, clock, freeAt[slot] as number);
    permits = Math.min(startsAtOnce, permits + (ready - clock) * startsPerSecond);
    const wait = Math.max(0, 1 - permits) / startsPerSecond;
    permits += wait * startsPerSecond - 1;
    clock = ready + wait;
    freeAt[slot] = clock + engineSeconds;
    last = Math.max(last, clock + engineSeconds);
  }
  return last;
}

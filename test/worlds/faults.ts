import type { Invocation } from './invocation.ts';
import { FAULT_KINDS, FAULTS, type FaultKind } from './troubles.ts';
import { BEGINNING, type World } from './world.ts';

/** The fault of one call. */
export interface Fault {
  readonly kind: FaultKind | 'denied';
  readonly takesEffect: boolean;
  /** Whether the function that makes the call gets an error at the end of the call. */
  readonly isFailure: boolean;
  readonly isUnanswered: boolean;
  readonly slowerMs: number;
}

const ALL: readonly FaultKind[] = FAULT_KINDS.flatMap((kind) =>
  Array<FaultKind>(FAULTS[kind].share).fill(kind),
);

/** The slowest call takes this much longer, in milliseconds. It is more than one try may take. */
const SLOWEST_MS = 6_000;

const faultOfKind = (kind: Fault['kind'], slowerMs = 0): Fault => ({
  kind,
  ...FAULTS[kind === 'denied' ? 'throttled' : kind],
  isUnanswered: kind.startsWith('never answered'),
  slowerMs,
});

/** The outage, if one is under way, in which the called service refuses this key. */
function outageOf({ plan: { outages }, time, count }: World, by: Invocation, operation: string, key: string) {
  const nowMs = time.now() - BEGINNING;
  const outage = outages.find(
    ({ service, of = '', prefix, atMs, lastsMs }) =>
      operation.startsWith(service) &&
      by.id.startsWith(of) &&
      key.startsWith(prefix) &&
      nowMs >= atMs &&
      nowMs < atMs + lastsMs,
  );
  if (outage) count(outage.isDenied ? 'denied in an outage' : 'refused in an outage');
  return outage;
}

/** The fault of a call, if it has one. Two random numbers decide which, and how slow a slow call is. */
export function faultOf(
  world: World,
  invocation: Invocation,
  { index, operation, key }: { readonly index: number; readonly operation: string; readonly key: string },
  [which, extra]: readonly [number, number],
): Fault | undefined {
  const { rate, only, single } = world.plan.faults;
  const outage = outageOf(world, invocation, operation, key);
  if (outage) return faultOfKind(outage.isDenied ? 'denied' : 'throttled');
  const name = `${invocation.id}/${index} ${operation}`;
  const isSingle =
    single?.request === invocation.id && operation === single.operation && key.startsWith(single.prefix);
  if (isSingle && !invocation.isPastSingle) {
    invocation.isPastSingle = true;
    if (world.troubles.happens(single.kind, name)) return faultOfKind(single.kind);
  }
  if (which >= rate) return undefined;
  const kinds = only ?? ALL;
  const kind = kinds[Math.floor((which / rate) * kinds.length)] as FaultKind;
  if (!world.troubles.happens(kind, name)) return undefined;
  return faultOfKind(kind, kind === 'slow' ? SLOWEST_MS * extra : 0);
}

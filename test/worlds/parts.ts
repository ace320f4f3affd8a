import type { StoredObject } from '../s3/memory-s3.ts';
import type { ModelledAthena } from './modelled-athena.ts';
import type { ModelledLake } from './modelled-lake.ts';
import type { ModelledRegister } from './modelled-register.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import type { CallerPlan } from './plan.ts';
import type { World } from './world.ts';

/** The modelled services that the service's functions call. */
export interface Backends {
  readonly lake: ModelledLake;
  readonly s3: ModelledS3;
  readonly athena: ModelledAthena;
  readonly register: ModelledRegister;
}

/** The job's record that names this execution, or an attempt by its token. */
export const recordOf = (
  s3: ModelledS3,
  id: string | undefined,
  member: 'executionId' | 'attempt' = 'executionId',
): StoredObject | undefined =>
  [...s3.objects].find(
    ([key, { document }]) => key.startsWith('jobs/') && (document as Record<string, unknown>)[member] === id,
  )?.[1];

export const stateOf = (stored: StoredObject | undefined): string | undefined =>
  (stored?.document as { readonly state?: string } | undefined)?.state;

/** One request for a report with the waiting hops that follow it. */
export interface Pull {
  readonly caller: CallerPlan;
  /** When the request for the report was sent. */
  readonly startedAt: number;
}

/** The parts of a world that a rule can look at. */
export interface Parts extends Backends {
  readonly world: World;
  /** Every pull so far. */
  readonly pulls: readonly Pull[];
}

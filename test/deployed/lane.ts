import type { Account } from './operator.ts';

/**
 * A lane is an emulator of AWS with the service deployed into it, and the suites that run against a stage there. This
 * is what the suites must know about it; `run-suites.ts` passes it in an environment variable.
 */
export interface Lane extends Account {
  readonly emulatorId: number;
  readonly faultsFile: string;
  /** The URL at which the identity provider of stage `claims` signs any token for the tests. */
  readonly signUrl: string;
  /** The client that may see every row of the stage, by its partner record. Stage `claims` has none. */
  readonly client?: { readonly clientId: string; readonly clientSecret: string };
  /** The stage of `stages.ts` that the suites run against. */
  readonly stage: string;
}

const VARIABLE = 'DEPLOYED_LANE';

export const laneEnvironment = (lane: Lane) => ({ [VARIABLE]: JSON.stringify(lane) });

/** The lane of this process's suites. Undefined if they run against the one-machine stack. */
export function currentLane(): Lane | undefined {
  const lane = process.env[VARIABLE];
  return lane === undefined ? undefined : JSON.parse(lane);
}

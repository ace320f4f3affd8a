import type { Account } from './operator.ts';

/** What the suites must know of their deployment; `run-suites.ts` hands it over in the environment. */
export interface Lane extends Account {
  /** The emulator's process. */
  readonly emulatorId: number;
  readonly faultsFile: string;
  /** Where the identity provider of stage `claims` signs any token for the tests. */
  readonly signUrl: string;
  /** The client of stage `pool` whose partner record opens every row. */
  readonly client?: { readonly clientId: string; readonly clientSecret: string };
  /** Which stage the suites run against. */
  readonly stage: 'pool' | 'claims';
}

const VARIABLE = 'DEPLOYED_LANE';

export const laneEnvironment = (lane: Lane) => ({ [VARIABLE]: JSON.stringify(lane) });

/** Undefined where the suites run against the one-machine stack. */
export function currentLane(): Lane | undefined {
  const lane = process.env[VARIABLE];
  return lane === undefined ? undefined : JSON.parse(lane);
}

/** What the suites must know of the deployment that they run against; `run-lane.ts` hands it over in the environment. */
export interface Lane {
  readonly endpoint: string;
  /** The folder of the `aws` command. */
  readonly commands: string;
  readonly faultsFile: string;
  /** Where the identity provider of stage `claims` signs any token for the tests. */
  readonly signUrl: string;
  /** Which stage the suites run against. */
  readonly stage: 'cognito' | 'claims';
  /** The client by which the suites ask: it sees every row. */
  readonly client: { readonly clientId: string; readonly clientSecret: string };
}

const VARIABLE = 'DEPLOYED_LANE';

export const laneEnvironment = (lane: Lane) => ({ [VARIABLE]: JSON.stringify(lane) });

/** Undefined where the suites run against the one-machine stack. */
export function currentLane(): Lane | undefined {
  const lane = process.env[VARIABLE];
  return lane === undefined ? undefined : JSON.parse(lane);
}

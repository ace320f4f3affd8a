import type { StageInput } from './stage.ts';

/**
 * The stages that come with the product. What each setting means is said in `stage.ts`. Stages of your own, and
 * changes to these, belong into `stages.ts` beside `cdk.json`, which no upgrade touches:
 *
 *     import { prod } from './infra/stages.ts';
 *     export const stages = { prod: { ...prod, runbookUrl: 'https://…', alarms: { ...prod.alarms, email: '…' } } };
 */

const common = {
  apiScope: 'api://performance-reports',
  identity: { provider: 'cognito' },
  entitlements: { by: 'partners' },
  events: { firstDay: '2025-01-01' },
  reports: { longestQuerySeconds: 600, downloadUrlSeconds: 300 },
  runbookUrl: 'docs/runbook.md',
  tags: {},
} satisfies Partial<StageInput>;

/** A stage to try the service. Destroying it deletes its data. */
export const dev: StageInput = {
  ...common,
  keepData: false,
  queries: { maxGigabytesScanned: 10, underWayPerPartner: 5 },
  executions: 100,
  maxRequestsPerAddress: 500,
  logDays: 14,
  alarms: { gigabytesScannedPerHour: 20 },
};

/**
 * Where partners pull their reports. It lacks what only its operator knows: who is told of alarms, and where the
 * runbook can be read. It does not synthesize without them. Its probe pulls nothing until it is a partner
 * (docs/partners.md, "The probe").
 *
 * @public
 */
export const prod: StageInput = {
  ...common,
  keepData: true,
  queries: { maxGigabytesScanned: 100, underWayPerPartner: 5 },
  // What docs/deploy.md asks an account to have (docs/decisions/0041-the-rush-is-simulated.md).
  executions: 1_000,
  maxRequestsPerAddress: 1_000,
  logDays: 90,
  alarms: { gigabytesScannedPerHour: 200 },
  probe: { everyMinutes: 15 },
  shiftMinutes: 10,
};

export const stages: Readonly<Record<string, StageInput>> = { dev, prod };

import type { StageInput } from './stage.ts';

/**
 * The stages that come with the product. `stage.ts` explains each setting. Put your own stages, and changes to
 * these, into `stages.ts` beside `cdk.json`, which no upgrade touches:
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
 * The stage from which partners pull their reports. The operator must still add who gets the alarms, and where the
 * runbook can be read. Without both, the stage does not synthesize. Its probe gets no report until the probe is added
 * as a partner (docs/partners.md, "The probe").
 *
 * @public
 */
export const prod: StageInput = {
  ...common,
  keepData: true,
  queries: { maxGigabytesScanned: 100, underWayPerPartner: 5 },
  // docs/deploy.md asks an account to allow this number (docs/decisions/0041-the-rush-is-simulated.md).
  executions: 1_000,
  maxRequestsPerAddress: 1_000,
  logDays: 90,
  alarms: { gigabytesScannedPerHour: 200 },
  probe: { everyMinutes: 15 },
};

export const stages: Readonly<Record<string, StageInput>> = { dev, prod };

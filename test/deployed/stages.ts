import type { StageInput } from '../../infra/stage.ts';
import { dev, prod } from '../../infra/stages.ts';
import { CLAIMS } from './claims.ts';

const common: StageInput = {
  ...dev,
  // The suites send requests as fast as they can, from one address and as one partner.
  executions: 100_000,
  maxRequestsPerAddress: 100_000,
  queries: { ...dev.queries, underWayPerPartner: 1_000 },
};

const withCognito: Partial<StageInput> = { identity: { provider: 'cognito' }, probe: { everyMinutes: 60 } };

/**
 * The stages that `npm run test:deployed` deploys. `pool` has its own Cognito user pool. `claims` uses an existing
 * identity provider. `kept` keeps its data, and is deployed only by `first-deployment.test.ts`. `shipped` has the settings
 * of `prod`, with its limits, and those that `rollback.test.ts` changes by an environment variable.
 */
export const stages: Readonly<Record<string, StageInput>> = {
  pool: { ...common, ...withCognito, reservedConcurrency: { publish: 50 } },
  claims: {
    ...common,
    corsOrigins: ['https://dash.partner.example'],
    downloads: { edge: 'standby' },
    identity: {
      provider: 'existing',
      issuer: process.env['LANE_ISSUER'] ?? 'http://127.0.0.1',
      jwksUri: process.env['LANE_JWKS_URI'] ?? 'http://127.0.0.1/jwks',
      tokenUrl: process.env['LANE_TOKEN_URL'] ?? 'http://127.0.0.1/token',
    },
    entitlements: {
      by: 'claims',
      publisherCompanies: { claim: CLAIMS.publisher },
      advertiserCompanies: { claim: CLAIMS.advertiser },
      everyCompanyValue: CLAIMS.every,
    },
  },
  shipped: { ...prod, keepData: false, ...JSON.parse(process.env['LANE_SETTINGS'] ?? '{}') },
  kept: {
    ...common,
    ...withCognito,
    keepData: true,
    alarms: { ...common.alarms, email: 'operator@example.com' },
    runbookUrl: 'https://git.example/reports/docs/runbook.md',
  },
};

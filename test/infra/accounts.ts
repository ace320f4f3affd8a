import type { StageInput } from '../../infra/stage.ts';

/** The stage of an operator with an empty account. */
export const newAccount: StageInput = {
  keepData: false,
  apiScope: 'api://performance-reports',
  identity: { provider: 'cognito' },
  entitlements: { by: 'partners' },
  events: { firstDay: '2025-01-01' },
  queries: { maxGigabytesScanned: 10 },
  reports: { longestQuerySeconds: 600, downloadUrlSeconds: 300 },
  executions: 100,
  maxRequestsPerAddress: 500,
  logDays: 14,
  alarms: { gigabytesScannedPerHour: 20 },
  runbookUrl: 'https://git.example/reports/docs/runbook.md',
  probe: { everyMinutes: 15 },
  tags: { team: 'reporting' },
};

/** The stage of an operator who already has an events bucket, an identity provider and a domain. */
export const grownAccount: StageInput = {
  ...newAccount,
  environment: { account: '123456789012', region: 'eu-west-1' },
  keepData: true,
  identity: {
    provider: 'existing',
    issuer: 'https://login.example/tenant/v2.0',
    jwksUri: 'https://login.example/tenant/keys',
    tokenUrl: 'https://login.example/tenant/token',
  },
  entitlements: {
    by: 'claims',
    publisherCompanies: { claim: 'roles', prefix: 'publisher-company:' },
    everyCompanyValue: 'every-company',
  },
  events: {
    bucket: 'example-events',
    prefix: 'warehouse/',
    kmsKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555',
    firstDay: '2020-02-29',
  },
  alarms: { gigabytesScannedPerHour: 20, email: 'operator@example.com' },
  probe: { everyMinutes: 5, secretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:probe-AbCdEf' },
  reservedConcurrency: { publish: 5 },
  downloads: { edge: 'on' },
  domain: {
    name: 'reports.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/11111111-2222-3333-4444-555555555555',
    hostedZone: { id: 'Z0123456789', name: 'example.com' },
  },
};

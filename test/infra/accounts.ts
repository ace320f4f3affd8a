import type { StageInput } from '../../infra/stage.ts';

/** The stage of an operator with an empty account. */
export const newAccount = {
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
} satisfies StageInput;

/** The stage of an operator who already has an events bucket, an identity provider and a domain. */
export const grownAccount = {
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
    ...{ by: 'claims', everyCompanyValue: 'every-company' },
    publisherCompanies: { claim: 'roles', prefix: 'publisher-company:' },
  },
  events: {
    ...{ bucket: 'example-events', prefix: 'warehouse/', firstDay: '2020-02-29' },
    kmsKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555',
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
} satisfies StageInput;

/** The stage of an operator who keeps everything in the service's own resources. */
export const keptWithCognito = {
  ...newAccount,
  keepData: true,
  access: { tokenEndpoint: 'https://login.example/token', contact: 'reports@example.com' },
  events: { ...newAccount.events, currency: 'EUR' },
  reports: { ...newAccount.reports, finalAfterHours: 6 },
  alarms: {
    gigabytesScannedPerHour: 20,
    topicArn: 'arn:aws:sns:eu-west-1:123456789012:pages',
    ticketTopicArn: 'arn:aws:sns:eu-west-1:123456789012:tickets',
  },
  reservedConcurrency: { publish: 5, probe: 1 },
  downloads: { edge: 'standby' },
  corsOrigins: ['https://dash.partner.example'],
  domain: {
    name: 'reports.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/11111111-2222-3333-4444-555555555555',
  },
} satisfies StageInput;

/** Settings that no stage below has; the last one is refused. The compiler refuses `linted` if there is another. */
type Unlinted = Exclude<
  keyof StageInput,
  keyof typeof grownAccount | keyof typeof keptWithCognito | 'shiftMinutes'
>;

/** The stages whose templates are linted. */
export const linted = { new: newAccount, grown: grownAccount, kept: keptWithCognito } satisfies Record<
  string,
  [Unlinted] extends [never] ? StageInput : Unlinted
>;

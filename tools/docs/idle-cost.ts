import type { StageInput } from '../../infra/stage.ts';
import { dev, prod } from '../../infra/stages.ts';
import { stageResources, type TemplateResource } from './stage-resources.ts';

/** One thing that costs money even if nobody requests a report. The price is AWS's list price in us-east-1, in US$. */
interface PriceItem {
  readonly what: string;
  readonly price: string;
  readonly dollars: number;
  readonly count: (resources: readonly TemplateResource[]) => number;
}

const MINUTES_A_MONTH = 43_800;

/**
 * The metrics that the probe causes in every hour of the month: `ProbePulled`, `ProbeRows`, and the `Reports` of the
 * report function that it calls.
 */
const PROBE_METRICS = 3;

/** The tokens that the probe requests in a month of 30 days: one an hour. */
const PROBE_TOKENS = 720;

const ofType = (type: string) => (resources: readonly TemplateResource[]) =>
  resources.filter(({ Type }) => Type === type);

const count = (type: string) => (resources: readonly TemplateResource[]) => ofType(type)(resources).length;

/** How many times a month a rule's schedule starts its target. 0 for a rule without a schedule. */
const runsOf = ({ Properties }: TemplateResource): number => {
  const expression = Properties?.['ScheduleExpression'];
  if (expression === undefined) return 0;
  const [, number = '', unit = ''] = /^rate\((\d+) (minute|hour)s?\)$/.exec(String(expression)) ?? [];
  if (unit === '') throw new Error(`${expression}: how many times is that in a month?`);
  return MINUTES_A_MONTH / (Number(number) * (unit === 'hour' ? 60 : 1));
};
const probeRuns = (resources: readonly TemplateResource[]) =>
  ofType('AWS::Events::Rule')(resources).reduce((sum, rule) => sum + runsOf(rule), 0);
const isProbed = (resources: readonly TemplateResource[]) => (probeRuns(resources) > 0 ? 1 : 0);

/** How many metrics an alarm reads. CloudWatch charges for each of them. */
const metricsOf = ({ Properties }: TemplateResource): number =>
  ((Properties?.['Metrics'] ?? [{ MetricStat: {} }]) as { MetricStat?: unknown }[]).filter(
    ({ MetricStat }) => MetricStat,
  ).length;

const ITEMS: readonly PriceItem[] = [
  { what: 'AWS WAF, web ACLs', price: '$5', dollars: 5, count: count('AWS::WAFv2::WebACL') },
  {
    what: 'AWS WAF, rules',
    price: '$1',
    dollars: 1,
    count: (resources) =>
      ofType('AWS::WAFv2::WebACL')(resources).reduce(
        (sum, { Properties }) => sum + ((Properties?.['Rules'] ?? []) as unknown[]).length,
        0,
      ),
  },
  {
    what: 'CloudWatch, metrics of alarms',
    price: '$0.10',
    dollars: 0.1,
    count: (resources) =>
      ofType('AWS::CloudWatch::Alarm')(resources).reduce((sum, alarm) => sum + metricsOf(alarm), 0),
  },
  {
    what: 'CloudWatch, composite alarms',
    price: '$0.50',
    dollars: 0.5,
    count: count('AWS::CloudWatch::CompositeAlarm'),
  },
  {
    what: 'CloudWatch, metrics that the probe writes',
    price: '$0.30',
    dollars: 0.3,
    count: (resources) => PROBE_METRICS * isProbed(resources),
  },
  { what: 'Cognito, clients', price: '$6', dollars: 6, count: count('AWS::Cognito::UserPoolClient') },
  {
    what: 'Cognito, tokens of the probe',
    price: '$2.25/1,000',
    dollars: 2.25 / 1_000,
    count: (resources) =>
      PROBE_TOKENS * Math.min(isProbed(resources), count('AWS::Cognito::UserPool')(resources)),
  },
  {
    what: 'Secrets Manager, secrets',
    price: '$0.40',
    dollars: 0.4,
    count: count('AWS::SecretsManager::Secret'),
  },
  {
    what: "the probe's pulls: API Gateway, AWS WAF, Lambda, S3",
    price: '$0.09/1,000',
    dollars: 0.09 / 1_000,
    count: probeRuns,
  },
  {
    what: "AWS Backup, the register's copies",
    price: '$0.05/GB',
    dollars: 0.05,
    count: (resources) => REGISTER_GB * count('AWS::Backup::BackupPlan')(resources),
  },
];

/** The size of the backups in GB: the records of ten thousand partners, below 1 kB each, and the changes of 35 days. */
const REGISTER_GB = 0.01;

/**
 * The types that ITEMS counts, and the types that cost only when they are used. Any other type must first be added:
 * to this list and, if it costs anything idle, to ITEMS.
 */
const KNOWN_TYPES = new Set([
  ...['ApiGateway::Account', 'ApiGateway::Deployment', 'ApiGateway::GatewayResponse', 'ApiGateway::Method'],
  ...['ApiGateway::Resource', 'ApiGateway::RestApi', 'ApiGateway::Stage', 'Athena::WorkGroup'],
  ...['Backup::BackupPlan', 'Backup::BackupSelection', 'Backup::BackupVault', 'CloudWatch::Alarm'],
  ...['CloudWatch::CompositeAlarm', 'CloudWatch::Dashboard', 'Cognito::UserPool', 'Cognito::UserPoolClient'],
  ...[
    'Cognito::UserPoolDomain',
    'Cognito::UserPoolResourceServer',
    'Events::Rule',
    'Glue::Database',
    'Glue::Table',
  ],
  // Versions cost nothing within the account's 75 GB of code.
  ...['Custom::ReleaseGate', 'Lambda::Alias', 'Lambda::Version'],
  ...['IAM::Role', 'Lambda::EventInvokeConfig', 'Lambda::Function', 'Lambda::Permission', 'Logs::LogGroup'],
  ...['Logs::MetricFilter', 'Logs::QueryDefinition', 'S3::Bucket', 'S3::BucketPolicy', 'SNS::Subscription'],
  ...['SNS::Topic', 'SNS::TopicPolicy', 'SQS::Queue', 'SQS::QueuePolicy', 'SecretsManager::Secret'],
  ...['WAFv2::WebACL', 'WAFv2::WebACLAssociation'],
]);

/** What a stage costs in a month in which nobody requests a report, item by item. */
export function idleCosts(resources: readonly TemplateResource[]) {
  for (const { Type } of resources)
    if (!KNOWN_TYPES.has(Type.replace(/^AWS::/, '')))
      throw new Error(`tools/docs/idle-cost.ts does not know what ${Type} costs`);
  return ITEMS.map(({ what, price, dollars, count }) => {
    const number = count(resources);
    return { what, price, number, dollars: number * dollars };
  });
}

/** The stages as operators deploy them: like infra/stages.ts, but `prod` has an address for alarms and a runbook. */
const stages: Readonly<Record<string, StageInput>> = {
  dev,
  prod: {
    ...prod,
    alarms: { ...prod.alarms, email: 'operator@example.com' },
    runbookUrl: 'https://git.example/reports/docs/runbook.md',
  },
};

/** Both stages' idle costs as a Markdown table. */
export function idleCostTable(): string {
  const costs = Object.entries(stages).map(([name, input]) => idleCosts(stageResources(name, input)));
  const cells = (each: (items: ReturnType<typeof idleCosts>) => string) => costs.map(each).join(' | ');
  const inDollars = (dollars: number) => dollars.toFixed(2);
  const rows = ITEMS.map(
    ({ what, price }, index) =>
      `| ${what} | ${price} | ${cells((items) => {
        const { number = 0, dollars = 0 } = items[index] ?? {};
        return `${number.toLocaleString('en-US')} | ${inDollars(dollars)}`;
      })} |`,
  );
  const total = cells((items) => `| **${inDollars(items.reduce((sum, { dollars }) => sum + dollars, 0))}**`);
  return [
    `| what, when nobody asks | each | ${Object.keys(stages)
      .map((name) => `\`${name}\` | $ a month`)
      .join(' | ')} |`,
    `| --- | --- | ${costs.map(() => '--- | ---').join(' | ')} |`,
    ...rows,
    `| **together** | | ${total} |`,
  ].join('\n');
}

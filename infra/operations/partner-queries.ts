import type { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { reports } from '../../lib/report/catalogue.ts';
import type { ResourceNames } from '../resource-names.ts';

/** Athena's minimum charge for a query, in bytes. */
const LEAST_BYTES = 10_000_000;
/** Athena's list price in us-east-1. */
const DOLLARS_PER_TERABYTE = 5;

/** One question about partners, in the language of CloudWatch Logs Insights, over the functions' logs. */
export interface PartnerQuery {
  /** Name of the saved query. */
  readonly name: string;
  /** Title of the dashboard's widget, which shows all partners, for the dashboard's time range. */
  readonly title: string;
  /** The saved query's lines, for one partner. The operator writes the partner's name into the query. */
  readonly ofOne: readonly string[];
  readonly ofAll: readonly string[];
}

/** Each execution is counted once, by the request that recorded its end. */
const SCANNED = [
  'filter endedQueries > 0',
  `fields greatest(endedBytes, endedQueries * ${LEAST_BYTES}) as chargedBytes`,
];
const SUMS =
  'sum(endedQueries) as queries, sum(endedBytes / 1000000000) as GB, ' +
  `sum(chargedBytes / 1000000000000 * ${DOLLARS_PER_TERABYTE}) as dollars`;

const REFUSED = 'filter ispresent(refusal) or problem in ["unauthenticated", "not-authorized"]';

export const partnerQueries: readonly PartnerQuery[] = [
  {
    name: 'what a partner pulled',
    title: 'Reports that partners pulled',
    ofOne: [
      'filter message = "download"',
      'fields @timestamp, report, startInclusive, endExclusive, requestedFields, companies, bytes, dataVersion, requestId',
      'sort @timestamp desc',
      'limit 1000',
    ],
    ofAll: [
      'filter message = "download"',
      'stats count(*) as links, count_distinct(dataVersion) as versions, sum(bytes / 1000000) as MB, max(@timestamp) as last by partner, report',
      'sort links desc',
      'limit 100',
    ],
  },
  {
    name: 'what the queries of a partner scanned and cost',
    title: 'What the queries of partners scanned, and cost at $5 a terabyte',
    ofOne: [...SCANNED, `stats ${SUMS} by bin(1d) as day`, 'sort day desc'],
    ofAll: [...SCANNED, `stats ${SUMS} by partner`, 'sort dollars desc', 'limit 100'],
  },
  {
    name: 'who was refused and why',
    title: 'Who was refused, and why',
    ofOne: [
      REFUSED,
      'fields @timestamp, report, problem, refusal, status, hop, client, requestId',
      'sort @timestamp desc',
      'limit 1000',
    ],
    ofAll: [
      REFUSED,
      'stats count(*) as times, max(@timestamp) as last by partner, client, problem, refusal, report',
      'sort times desc',
      'limit 100',
    ],
  },
];

/** The lines in which the operator writes the partner's name. */
export const ONE_PARTNER = [
  '# Put the name of the partner here, and choose the time above.',
  'filter partner = "first-partner"',
];

/** The logs that the queries about partners read: those of the reports and of the waiting room. */
export const partnerLogs = (names: ResourceNames): string[] =>
  [...reports.map(({ name }) => name), 'downloads'].map(names.functionLog);

/** Saves the queries about one partner in Logs Insights, under the service's name. */
export function savePartnerQueries(stack: Stack, names: ResourceNames): void {
  for (const [index, { name, ofOne }] of partnerQueries.entries())
    new CfnQueryDefinition(stack, `PartnerQuery${index}`, {
      name: `${names.service}/${name}`,
      logGroupNames: partnerLogs(names),
      queryString: [...ONE_PARTNER, ...ofOne.map((line) => `| ${line}`)].join('\n'),
    });
}

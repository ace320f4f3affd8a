import type { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { reports } from '../../lib/report/catalogue.ts';
import type { ResourceNames } from '../resource-names.ts';
import { ONE_PARTNER, partnerQueries } from './partner-queries.ts';

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

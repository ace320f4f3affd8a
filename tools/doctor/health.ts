import { AthenaClient, GetWorkGroupCommand, paginateListTableMetadata } from '@aws-sdk/client-athena';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { paginateListSubscriptionsByTopic, SNSClient } from '@aws-sdk/client-sns';
import { resourceNames } from '../../infra/resource-names.ts';
import type { Stage } from '../../infra/stage.ts';
import { secretReader } from '../../lib/aws/release-calls.ts';
import { tables } from '../../lib/report/tables.ts';
import { readLiveFunctions, retryingLambda } from '../live-functions.ts';
import { cognitoClients } from '../partner/cognito-clients.ts';
import { registerBucket } from '../partner/register-bucket.ts';
import type { StageOutputs } from '../stage-stacks.ts';
import { readStackVersions, stackResources, stackStatus } from '../stage-stacks.ts';
import type { Finding } from './diagnose.ts';

/** One check of a deployed stage. It throws the error with which AWS refuses a call. */
interface Check {
  readonly what: string;
  readonly find: () => Promise<Finding | undefined>;
}

/** What each check of a deployed stage looks at, and how. They read, and change nothing. */
export const healthChecks = (stage: Stage, outputs: StageOutputs): readonly Check[] => [
  { what: 'the aliases of the functions', find: () => movedAliases(stage.name) },
  { what: 'the workgroup', find: () => stoppedWorkgroup(stage) },
  { what: 'the tables', find: () => missingTables(stage) },
  ...(stage.entitlements.by === 'partners'
    ? [
        { what: 'the register of partners', find: () => lostRecords(stage, outputs) },
        { what: "the probe's partner", find: () => probeWithoutRows(stage, outputs) },
      ]
    : []),
  { what: "the alarms' e-mail address", find: () => unconfirmedAddress(stage) },
];

/**
 * Finds aliases that lead to another version than the stack holds. CloudFormation does not notice such a move. Finds
 * nothing if the stage is not deployed.
 */
export async function movedAliases(stage: string): Promise<Finding | undefined> {
  const functions = await readLiveFunctions(retryingLambda(), stage);
  if (functions.length === 0) return undefined;
  const client = new CloudFormationClient({});
  // A deployment that is under way moves aliases itself, so a difference is then no fault.
  if ((await stackStatus(client, stage)).endsWith('_IN_PROGRESS')) return undefined;
  const stackVersions = await readStackVersions(client, stage);
  const moved = functions.flatMap(({ name, versions, live }) => {
    const deployed = stackVersions.get(resourceNames(stage).functionName(name));
    if (deployed === undefined || live === deployed) return [];
    const told = (number: number) =>
      `${number} (${versions.find((version) => version.number === number)?.release ?? '?'})`;
    return `  ${name}: ${told(live)}, deployed: ${told(deployed)}`;
  });
  if (moved.length === 0) return undefined;
  const title = 'These aliases lead elsewhere than CloudFormation knows: a release was taken back.';
  return {
    finding: [title, ...moved].join('\n'),
    remedy: 'Nothing to do: the next release moves them. To deploy the same release again changes nothing.',
  };
}

async function stoppedWorkgroup({ name }: Stage): Promise<Finding | undefined> {
  const WorkGroup = resourceNames(name).service;
  const answer = await new AthenaClient({}).send(new GetWorkGroupCommand({ WorkGroup }));
  if (answer.WorkGroup?.State === 'ENABLED') return undefined;
  return {
    finding: `The workgroup ${WorkGroup} is ${answer.WorkGroup?.State}: no query starts, so partners are answered 5xx.`,
    remedy: 'Start it again: docs/runbook.md#stop-everything, the block start-again.sh.',
  };
}

async function missingTables({ name }: Stage): Promise<Finding | undefined> {
  const DatabaseName = resourceNames(name).database;
  const target = { CatalogName: 'AwsDataCatalog', DatabaseName };
  const pages = await Array.fromAsync(
    paginateListTableMetadata({ client: new AthenaClient({}) }, target),
  ).catch((error: Error) => {
    // Athena's words for a database that is missing.
    if (!/EntityNotFound|database .*not found/i.test(error.message)) throw error;
    return [];
  });
  const there = pages.flatMap(({ TableMetadataList = [] }) => TableMetadataList.map(({ Name }) => Name));
  const missing = tables.map(({ name }) => name).filter((table) => !there.includes(table));
  if (missing.length === 0) return undefined;
  return {
    finding: `The database ${DatabaseName} lacks ${missing.join(' and ')}: queries of it fail, and partners are answered 500.`,
    remedy: 'Make it again: docs/runbook.md#something-was-changed-by-hand. No file of the events is touched.',
  };
}

async function lostRecords({ name }: Stage, { partnersBucket }: StageOutputs): Promise<Finding | undefined> {
  const register = registerBucket(partnersBucket);
  const names = (await register.listNames()).filter(({ state }) => state === 'there');
  const lost: string[] = [];
  for (const { name, client = '' } of names)
    if (!(await register.readPartner(client))?.value) lost.push(name);
  if (names.length > 0 && lost.length === 0) return undefined;
  return {
    finding:
      names.length === 0
        ? 'The register of partners is empty: every caller is answered 401.'
        : `The register names partners without a record, who are answered 401: ${lost.join(', ')}.`,
    remedy: `Bring the records back: docs/runbook.md#restore-the-register. In a new stage, add the partners: npm run partner -- add ${name} …`,
  };
}

async function probeWithoutRows(
  { name, probe }: Stage,
  { partnersBucket, userPoolId, scope }: StageOutputs,
): Promise<Finding | undefined> {
  if (!probe) return undefined;
  const client =
    probe.secretArn !== undefined
      ? (JSON.parse(await secretReader()(probe.secretArn)) as { clientId?: string }).clientId
      : (await cognitoClients(userPoolId ?? '', scope).list()).find((listed) => listed.name === 'probe')?.id;
  const record =
    client === undefined ? undefined : (await registerBucket(partnersBucket).readPartner(client))?.value;
  if (record?.active && record.publisherCompanies.length > 0) return undefined;
  return {
    finding: `The probe's client ${client ?? '(there is none)'} sees no publisher company: its alarm fires, and the gate refuses the next release.`,
    remedy: record
      ? `npm run partner -- set ${name} ${record.name} --active yes --publisher-companies every-company`
      : `npm run partner -- add ${name} probe --client ${client ?? '<id>'} --publisher-companies every-company --contact <yours>`,
  };
}

async function unconfirmedAddress({ name, alarms: { email } }: Stage): Promise<Finding | undefined> {
  if (email === undefined) return undefined;
  const stack = `${resourceNames(name).service}-operations`;
  for (const TopicArn of await stackResources(new CloudFormationClient({}), stack, 'AWS::SNS::Topic')) {
    const pages = paginateListSubscriptionsByTopic({ client: new SNSClient({}) }, { TopicArn });
    for await (const { Subscriptions = [] } of pages)
      for (const { Endpoint, SubscriptionArn = '' } of Subscriptions)
        if (Endpoint === email && SubscriptionArn.startsWith('arn:')) return undefined;
  }
  return {
    finding: `${email} has not confirmed that it takes alarms: nobody is told of any.`,
    remedy:
      'Open the link in the message from AWS Notifications. It is good for three days; a new one: delete the subscription and deploy.',
  };
}

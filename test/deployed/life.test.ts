/**
 * Tests what an operator does with a deployment after its first day. Each case starts from the state in which the case
 * before it leaves the deployment.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownEvents } from '../e2e/known-events.ts';
import { type Service, startService } from '../e2e/service.ts';
import { changedCopy } from './changed-copy.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const lane = currentLane() as Lane;
const { stage } = lane;
const { aws, cdk, outputs } = operator(lane);
const STACKS = ['data', 'identity', 'api', 'operations'].map(
  (part) => `performance-reports-${stage}-${part}`,
);

let service: Service;
let upgrade: Awaited<ReturnType<typeof upgradedCopy>>;
beforeAll(async () => {
  service = await startService(knownEvents(9, 300));
  upgrade = await upgradedCopy();
}, 120_000);
afterAll(() => upgrade[Symbol.asyncDispose]());

/** A copy of the project whose publisher report has one more field, as a later version may have. */
const upgradedCopy = () =>
  changedCopy('lib/report/catalogue.ts', (source) =>
    source.replace(/( +)deviceOrProxy,/, "$1text('AppName', 'app_name', 'name of the app'),\n$&"),
  );

const report = (fields: string) =>
  service.pull('publisherperformance', {
    fields: fields.split(','),
    start: '2026-01-01T00:00:00Z',
    end: '2026-02-01T00:00:00Z',
  });

const stackNames = async (): Promise<string[]> => {
  const answer = await aws('cloudformation', 'list-stacks', '--output', 'json');
  return JSON.parse(answer)
    .StackSummaries.filter(({ StackStatus }: { StackStatus: string }) => StackStatus !== 'DELETE_COMPLETE')
    .map(({ StackName }: { StackName: string }) => StackName);
};

describe('a deployment', () => {
  it('shows no difference while nothing has changed', async () => {
    expect(await cdk('diff', stage, '--fail')).toContain('There were no differences');
  });

  it('keeps its data in an upgrade that adds a field, and leaves the field empty for files without its column', async () => {
    const before = await report('Day,DeviceOrProxy,ServedAds,Revenue');
    await operator(lane, upgrade.directory).cdk('deploy', stage, '--all', '--require-approval', 'never');
    expect(await report('Day,DeviceOrProxy,ServedAds,Revenue')).toBe(before);
    const totals = (await report('ServedAds,Revenue')).split('\n')[1];
    expect(await report('AppName,ServedAds,Revenue')).toBe(`"AppName","ServedAds","Revenue"\n,${totals}\n`);
  });

  it('is rolled back by deploying the earlier version', async () => {
    await cdk('deploy', stage, '--all', '--require-approval', 'never');
    await expect(report('AppName,ServedAds')).rejects.toThrow('Unknown field');
  });

  it('refuses to destroy the identity stack while the API uses it', async () => {
    const [, identity = ''] = STACKS;
    await expect(cdk('destroy', stage, '--force', '--exclusively', identity)).rejects.toThrow(/imported by/i);
    expect(await report('ServedAds')).toContain('"ServedAds"');
  });

  it('leaves nothing when it is destroyed as docs/deploy.md says', async () => {
    await service.close();
    const { EventsBucket = '', PartnersBucket = '', ResultsBucket = '' } = await outputs(stage, 'data');
    // The register of a stage in use is not empty.
    await aws('s3api', 'put-object', '--bucket', PartnersBucket, '--key', 'partners/some-client.json');
    for (const bucket of [EventsBucket, PartnersBucket, ResultsBucket]) await emptied(bucket);
    await cdk('destroy', stage, '--all', '--force');
    const left = await stackNames();
    expect(left.filter((name) => STACKS.includes(name))).toEqual([]);
    expect(left).toContain('CDKToolkit');
    expect(await remains()).toEqual([]);
  });
});

/** Removes every version and every delete marker from a bucket, as "Empty" in the S3 console does. */
async function emptied(bucket: string): Promise<void> {
  await aws('s3', 'rm', '--recursive', '--quiet', `s3://${bucket}/`);
  const listed = JSON.parse(
    (await aws('s3api', 'list-object-versions', '--bucket', bucket, '--output', 'json')) || '{}',
  );
  const Objects = [...(listed.Versions ?? []), ...(listed.DeleteMarkers ?? [])].map(({ Key, VersionId }) => ({
    Key,
    VersionId,
  }));
  if (Objects.length > 0)
    await aws(
      's3api',
      'delete-objects',
      '--bucket',
      bucket,
      '--delete',
      JSON.stringify({ Objects, Quiet: true }),
    );
}

/** The names of the resources that are left of the stage, except API Gateway's role for writing logs. */
async function remains(): Promise<string[]> {
  const json = ['--output', 'json'];
  const { Roles } = JSON.parse(await aws('iam', 'list-roles', ...json));
  const roles = Roles.filter((role: object) => !JSON.stringify(role).includes('apigateway.amazonaws.com'));
  const listings = await Promise.all([
    aws('s3api', 'list-buckets', ...json),
    aws('lambda', 'list-functions', ...json),
    aws('logs', 'describe-log-groups', ...json),
    aws('athena', 'list-work-groups', ...json),
    aws('glue', 'get-databases', ...json),
    aws('cognito-idp', 'list-user-pools', '--max-results', '60', ...json),
    aws('secretsmanager', 'list-secrets', ...json),
    aws('cloudwatch', 'describe-alarms', ...json),
  ]);
  const ours = new RegExp(`"(?:[^"]*[/:])?(performance[-_]reports[-_]${stage}[^"]*)"`, 'g');
  const texts = [...listings, JSON.stringify(roles)];
  return [...new Set(texts.flatMap((text) => [...text.matchAll(ours)].map(([, name = '']) => name)))];
}

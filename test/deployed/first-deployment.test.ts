/** Repeats failed first deployments with the commands of docs/deploy.md. Each case starts where the last one ended. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changedCopy } from './changed-copy.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const STAGE = 'kept';
const SERVICE = `performance-reports-${STAGE}`;
const STACKS = ['data', 'identity', 'api', 'operations'].map((part) => `${SERVICE}-${part}`);
const FIRST = ['-c', 'first=yes'];

const lane = currentLane() as Lane;
const { cdk, json, shell } = operator(lane);
const deploy = ['--all', '--require-approval', 'never'];
const guide = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
const [, withoutProtection = ''] = /```sh no-protection\.sh\n(.*?)```/s.exec(guide) ?? [];

/** A copy of the project, in which `-c broken=<data or identity>` gives that stack a last resource that AWS refuses. */
const brokenCopy = () =>
  changedCopy('infra/add-stage.ts', (source) =>
    source.replace('import { type App,', 'import { type App, CfnResource,').replace(
      '  return stacks;',
      `  const broken = { data, identity }[app.node.tryGetContext('broken') as 'data' | 'identity'];
  if (broken) {
    const others = broken.node.findAll().filter((node) => CfnResource.isCfnResource(node));
    const refused = new CfnResource(broken, 'Refused', {
      type: 'AWS::Cognito::UserPoolResourceServer',
      properties: { Identifier: 'refused', Name: 'refused', UserPoolId: 'us-east-1_Missing' },
    });
    for (const other of others) refused.addDependency(other);
  }
$&`,
    ),
  );

let broken: Awaited<ReturnType<typeof brokenCopy>>;
beforeAll(async () => {
  broken = await brokenCopy();
});
afterAll(() => broken[Symbol.asyncDispose]());

/** Deploys the stage. The emulator refuses the last resource of the stack `part`. */
const deployBroken = (part: 'data' | 'identity', ...flags: string[]) =>
  operator(lane, broken.directory).cdk('deploy', STAGE, ...deploy, ...flags, '-c', `broken=${part}`);

async function made(): Promise<{ buckets: string[]; pools: string[] }> {
  const named = `[?starts_with(Name, '${SERVICE}')]`;
  const pools = await json('cognito-idp list-user-pools --max-results 60 --query', `UserPools${named}.Id`);
  return { buckets: await json('s3api list-buckets --query', `Buckets${named}.Name`), pools };
}

const protectedStacks = (): Promise<string[]> => {
  const ours = `[?EnableTerminationProtection && starts_with(StackName, '${SERVICE}-')].StackName`;
  return json('cloudformation describe-stacks --query', `Stacks${ours}`);
};

describe('a first deployment of a stage that keeps its data', () => {
  it('can’t be repeated if it fails without -c first=yes, until its termination protection is removed by hand', async () => {
    await expect(deployBroken('data')).rejects.toThrow('us-east-1_Missing');
    await expect(deployBroken('data', ...FIRST)).rejects.toThrow(/TerminationProtection|cannot be deleted/);
    await shell(withoutProtection, { STAGE });
    expect(await protectedStacks()).toEqual([]);
  });

  it('leaves no buckets and no user pools of the stack that fails, if it has -c first=yes', async () => {
    await expect(deployBroken('data', ...FIRST)).rejects.toThrow('us-east-1_Missing');
    expect(await made()).toEqual({ buckets: [], pools: [] });
    await expect(deployBroken('identity', ...FIRST)).rejects.toThrow('us-east-1_Missing');
    expect(await made()).toEqual({ buckets: Array(3).fill(expect.stringMatching('kept')), pools: [] });
  });

  it('succeeds with the same command after its fault is gone', async () => {
    const before = await made();
    await cdk('deploy', STAGE, ...deploy, ...FIRST);
    expect(await made()).toEqual({ buckets: before.buckets, pools: [expect.any(String)] });
    expect(await protectedStacks()).toEqual([]);
  });

  it('protects its stacks if it is repeated without the flag', async () => {
    const before = await made();
    await cdk('deploy', STAGE, ...deploy);
    expect(await made()).toEqual(before);
    expect((await protectedStacks()).sort()).toEqual(STACKS.toSorted());
  });

  it('can be destroyed, except for its buckets and its user pool, after a deployment with -c first=yes', async () => {
    const before = await made();
    const destroyed = cdk('destroy', STAGE, '--all', '--force');
    await expect(destroyed).rejects.toThrow(/TerminationProtection|cannot be deleted/);
    await cdk('deploy', STAGE, ...deploy, ...FIRST);
    await cdk('destroy', STAGE, '--all', '--force');
    expect(await made()).toEqual(before);
  });
});

import { type App, Tags } from 'aws-cdk-lib';
import { ApiStack } from './api/api-stack.ts';
import type { Release } from './api/lambda-function.ts';
import type { DeploymentFlags } from './choose-stage.ts';
import { DataStack } from './data/data-stack.ts';
import { IdentityStack } from './identity/identity-stack.ts';
import { OperationsStack } from './operations/operations-stack.ts';
import { resourceNames, SERVICE } from './resource-names.ts';
import type { Stage } from './stage.ts';

/** The stacks of one stage. */
export interface StageStacks {
  readonly data: DataStack;
  /** Absent if the stage uses an existing issuer. */
  readonly identity?: IdentityStack;
  readonly api: ApiStack;
  readonly operations: OperationsStack;
}

/** Adds a stage to the app: its stacks, in the order of their deployment. */
export function addStage(
  app: App,
  stage: Stage,
  release: Release,
  { isFirst = false, isOpen = false }: Partial<DeploymentFlags> = {},
): StageStacks {
  const names = resourceNames(stage.name);
  const common = {
    ...(stage.environment && { env: stage.environment }),
    // Always set, because the CDK CLI removes the protection if this is left out.
    terminationProtection: stage.keepData && !isFirst,
    names,
  };
  const id = (part: string) => `${names.service}-${part}`;

  const data = new DataStack(app, id('data'), { ...common, stage });
  const existing = stage.identity.provider === 'existing' ? stage.identity : undefined;
  const identity = existing ? undefined : new IdentityStack(app, id('identity'), { ...common, stage });
  // The identity stack reads nothing from the data stack. The dependency only orders the deployments, so that a failure
  // stops the later deployments.
  identity?.addStackDependency(data);
  const tokenIssuer = existing ?? (identity as IdentityStack).tokenIssuer;
  const secretArn = stage.probe?.secretArn;
  const probeClient =
    existing && secretArn !== undefined ? { tokenUrl: existing.tokenUrl, secretArn } : identity?.probeClient;
  const api = new ApiStack(app, id('api'), {
    ...common,
    stage,
    bucketNames: data.bucketNames,
    tokenIssuer,
    ...(probeClient && { probeClient }),
    release,
    isOpen,
  });
  api.addStackDependency(data);
  if (identity) api.addStackDependency(identity);
  const operations = new OperationsStack(app, id('operations'), { ...common, stage });
  // The API stack makes the access log. The operations stack's metric filters read the log by its name.
  operations.addStackDependency(api);

  const stacks = { data, ...(identity && { identity }), api, operations };
  for (const stack of Object.values(stacks))
    for (const [key, value] of Object.entries({ ...stage.tags, service: SERVICE, stage: stage.name }))
      Tags.of(stack).add(key, value);
  return stacks;
}

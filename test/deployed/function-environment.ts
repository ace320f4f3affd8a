import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListAliasesCommand,
  UpdateAliasCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { LIVE_ALIAS, resourceNames } from '../../infra/resource-names.ts';
import type { Lane } from './lane.ts';
import { REGION, ROOT_CREDENTIALS } from './operator.ts';

/** The version whose settings can be changed. The settings of a published version can't be changed. */
const UNPUBLISHED = '$LATEST';

/**
 * Changes environment variables of deployed functions. A stage has no setting for these variables. The aliases of the
 * functions then lead to the unpublished version. Resolves to a function that restores the variables and the aliases.
 */
export async function changeEnvironment(
  { endpoint, stage }: Pick<Lane, 'endpoint' | 'stage'>,
  functionNames: readonly string[],
  changes: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  if (Object.keys(changes).length === 0) return async () => {};
  const lambda = new LambdaClient({ endpoint, region: REGION, credentials: ROOT_CREDENTIALS });
  const restores = await Promise.all(
    functionNames.map(async (name) => {
      const FunctionName = resourceNames(stage).functionName(name);
      const setVariables = (Variables: Record<string, string>) =>
        lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
      const [{ Environment }, { Aliases }] = await Promise.all([
        lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
        lambda.send(new ListAliasesCommand({ FunctionName })),
      ]);
      const live = Aliases?.find(({ Name }) => Name === LIVE_ALIAS);
      const pointTo = async (FunctionVersion: string | undefined) => {
        if (live)
          await lambda.send(new UpdateAliasCommand({ FunctionName, Name: LIVE_ALIAS, FunctionVersion }));
      };
      const before = Environment?.Variables ?? {};
      await setVariables({ ...before, ...changes });
      await pointTo(UNPUBLISHED);
      return async () => {
        await pointTo(live?.FunctionVersion);
        await setVariables(before);
      };
    }),
  );
  return async () => {
    await Promise.all(restores.map((restore) => restore()));
  };
}

import {
  GetAliasCommand,
  LambdaClient,
  paginateListVersionsByFunction,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { PROBE } from '../infra/api/probe.ts';
import { serviceFunctions } from '../infra/api/service-functions.ts';
import { LIVE_ALIAS, resourceNames } from '../infra/resource-names.ts';
import { ENV } from '../lib/names.ts';

/** A published version of a function: the release of one commit. */
export interface PublishedVersion {
  readonly number: number;
  readonly commit: string;
  readonly publishedMs: number;
}

/** A deployed function: all its versions, and the versions that its alias `live` leads to. */
export interface LiveFunction {
  /** The name of its file in `functions/`. */
  readonly name: string;
  /** All published versions, the oldest first. */
  readonly versions: readonly PublishedVersion[];
  /** The versions that the alias leads to: first its main version, then those that get a part of the requests. */
  readonly live: readonly number[];
}

/** A client that retries often. All functions are read and moved at once, but Lambda allows only 15 calls a second. */
export const retryingLambda = () => new LambdaClient({ maxAttempts: 10 });

/** Reads the functions of a stage. Leaves out functions that are not deployed or have no alias. */
export async function readLiveFunctions(client: LambdaClient, stage: string): Promise<LiveFunction[]> {
  const names = [...serviceFunctions.map(({ name }) => name), PROBE];
  return (await Promise.all(names.map((name) => readLiveFunction(client, stage, name)))).flat();
}

async function readLiveFunction(client: LambdaClient, stage: string, name: string): Promise<LiveFunction[]> {
  const FunctionName = resourceNames(stage).functionName(name);
  try {
    const { FunctionVersion, RoutingConfig } = await client.send(
      new GetAliasCommand({ FunctionName, Name: LIVE_ALIAS }),
    );
    const versions: PublishedVersion[] = [];
    for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName }))
      for (const { Version, Environment, LastModified = '' } of Versions)
        if (Version !== '$LATEST')
          versions.push({
            number: Number(Version),
            commit: Environment?.Variables?.[ENV.commit] ?? 'unknown',
            publishedMs: Date.parse(LastModified),
          });
    const weighted = Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {});
    const live = [FunctionVersion, ...weighted].map(Number);
    return [{ name, versions: versions.sort((one, other) => one.number - other.number), live }];
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return [];
    throw error;
  }
}

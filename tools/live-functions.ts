import {
  LambdaClient,
  paginateListAliases,
  paginateListVersionsByFunction,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { PROBE } from '../infra/api/probe.ts';
import { serviceFunctions } from '../infra/api/service-functions.ts';
import { LIVE_ALIAS, resourceNames } from '../infra/resource-names.ts';

/** A published version of a function: its part of a release. */
export interface PublishedVersion {
  readonly number: number;
  /** Name of the release (`infra/release-name.ts`). */
  readonly release: string;
  readonly publishedMs: number;
  /** Whether an operator has gone back from this version to an earlier one. */
  readonly isTakenBack: boolean;
}

/** A deployed function: all its versions, and the one that its alias `live` leads to. */
export interface LiveFunction {
  /** The name of its file in `functions/`. */
  readonly name: string;
  /** All published versions, the oldest first. */
  readonly versions: readonly PublishedVersion[];
  /** The number of the version that the alias leads to. */
  readonly live: number;
}

/** The alias that marks a version as taken back. Deployments do not know of it, so the next rollback finds it. */
export const takenBackAlias = (version: number): string => `taken-back-${version}`;

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
    const pages = await Array.fromAsync(paginateListAliases({ client }, { FunctionName }));
    const aliases = pages.flatMap(({ Aliases = [] }) => Aliases);
    const { FunctionVersion: live } = aliases.find(({ Name }) => Name === LIVE_ALIAS) ?? {};
    if (live === undefined) return [];
    const versionPages = await Array.fromAsync(paginateListVersionsByFunction({ client }, { FunctionName }));
    const versions = versionPages
      .flatMap(({ Versions = [] }) => Versions)
      .filter(({ Version }) => Version !== '$LATEST')
      .map(({ Version, Environment, LastModified = '' }) => ({
        number: Number(Version),
        release: Environment?.Variables?.['COMMIT'] ?? 'unknown',
        publishedMs: Date.parse(LastModified),
        isTakenBack: aliases.some(({ Name }) => Name === takenBackAlias(Number(Version))),
      }))
      .sort((one, other) => one.number - other.number);
    return [{ name, versions, live: Number(live) }];
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return [];
    throw error;
  }
}

import { NoSuchKey, type S3Client } from '@aws-sdk/client-s3';
import type { QueryService } from '../../lib/delivery/execution.ts';
import type { Lake, LakeListing } from '../../lib/lake/lake.ts';
import { daysBetween, daysOf } from '../../lib/report/utc-time.ts';
import { type Invocation, running } from './invocation.ts';
import type { EngineQuery, ModelledAthena } from './modelled-athena.ts';
import { dayFolder, type ModelledLake, TABLE_FOLDER } from './modelled-lake.ts';
import type { ModelledRegister } from './modelled-register.ts';
import { type PortOperation, portCall } from './port-call.ts';
import { readOf } from './results-port.ts';
import type { ServiceCode } from './service-code.ts';
import type { World } from './world.ts';

const athenaCall = (name: string, key: string): PortOperation => ({
  name: `Athena ${name}`,
  key,
  takesMs: [30, 90],
});

/** The query service that `lib/delivery` uses, on the modelled Athena. */
export const queriesPort = (
  world: World,
  athena: ModelledAthena,
  { call }: Pick<ServiceCode, 'call'>,
  until: number,
  onUnderWay: (query: EngineQuery, by: Invocation, isQueued: boolean) => void,
): QueryService => ({
  async start(query, token) {
    const id = await call('Athena StartQueryExecution', until, (signal) =>
      portCall(world, athenaCall('StartQueryExecution', token.slice(0, 8)), signal, (by) =>
        athena.start(query, token, by),
      ),
    );
    const started = athena.queries.get(id);
    if (started) started.isHeardOf = true;
    return id;
  },
  async get(id) {
    const told = await call('Athena GetQueryExecution', until, (signal) =>
      portCall(
        world,
        athenaCall('GetQueryExecution', id),
        signal,
        () => athena.get(id) as Awaited<ReturnType<QueryService['get']>>,
      ),
    );
    const by = running.getStore();
    const query = athena.queries.get(id);
    if (by && query && 'completedAt' in told) query.toldEndTo.push({ by, at: world.time.now() });
    if (by && query && told.state === 'under-way') onUnderWay(query, by, told.isQueued);
    return told;
  },
  stop: (id) =>
    call('Athena StopQueryExecution', until, (signal) =>
      portCall(world, athenaCall('StopQueryExecution', id), signal, (by) => athena.stop(id, by)),
    ),
});

/** The listings that one machine has cached. */
export type KeptListings = Map<string, LakeListing>;

/** The lake that `lib/delivery` uses, on the modelled lake, with the machine's cache of listings. */
export const lakePort = (
  world: World,
  lake: ModelledLake,
  { call }: Pick<ServiceCode, 'call'>,
  { until, kept }: { readonly until: number; readonly kept: KeptListings },
): Lake => ({
  folderOf: () => TABLE_FOLDER,
  async list(_report, window, maxAgeMs): Promise<LakeListing | undefined> {
    if (!world.plan.settings.isListed) return undefined;
    const { first, last } = daysOf(window);
    const folders = daysBetween(first, last).map(dayFolder);
    const name = `${first} ${last}`;
    const listedAt = Date.now();
    const known = kept.get(name);
    if (known && listedAt - known.listedAt < maxAgeMs) return known;
    const page = (key: string, isListed: (key: string) => boolean) =>
      call('S3 ListObjectsV2', until, (signal) =>
        portCall(world, readOf('ListObjectsV2', key), signal, () =>
          [...lake.now().files.values()]
            .filter((file) => isListed(file.key))
            .map(({ key, etag, bytes, lastModified }) => ({
              key,
              etag,
              bytes,
              lastModified: Math.floor(lastModified / 1_000) * 1_000,
            })),
        ),
      );
    const objects = await page(name, (key) => folders.some((folder) => key.startsWith(folder)));
    const isTableMissing = objects.length === 0 && (await page('any day', () => true)).length === 0;
    const listing = { objects, listedAt, ...(isTableMissing && { isTableMissing }) };
    if (maxAgeMs > 0) kept.set(name, listing);
    return listing;
  },
});

/** The S3 client through which the service's own adapter reads the register. */
export const registerClient = (world: World, register: ModelledRegister): S3Client =>
  ({
    send: async (
      { input: { Key = '' } }: { readonly input: { readonly Key?: string } },
      { abortSignal }: { readonly abortSignal: AbortSignal },
    ) => {
      const text = await portCall(world, readOf('GetObject', Key.slice(0, 18)), abortSignal, () =>
        register.textAt(Key),
      );
      if (text === undefined)
        throw new NoSuchKey({ message: 'no such key', $metadata: { httpStatusCode: 404 } });
      return { Body: { transformToString: async () => text } };
    },
  }) as unknown as S3Client;

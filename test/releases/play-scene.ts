import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import type { StoredFile } from '../s3/memory-s3.ts';
import { reportUrl } from '../worlds/caller.ts';
import { type Invocation, running } from '../worlds/invocation.ts';
import { reportCsv } from '../worlds/modelled-athena.ts';
import { clicksIn, maskOf } from '../worlds/modelled-lake.ts';
import { clientOf } from '../worlds/modelled-register.ts';
import { idOf } from '../worlds/read-query.ts';
import type { ServiceCode } from '../worlds/service-code.ts';
import { BEGINNING } from '../worlds/world.ts';
import { DAY, type Scene, type SceneName, scenes } from './scenes.ts';
import { COMPANIES, PARTNER, stage } from './stage.ts';

/** The objects that a release's code had stored at the moment of a scene, and the queries that it had started. */
export interface Sample {
  /** The moment of the scene. All times of a sample are in milliseconds after `BEGINNING`. */
  readonly atMs: number;
  readonly objects: readonly {
    readonly key: string;
    readonly atMs: number;
    readonly document?: unknown;
    /** The content of a report's file. */
    readonly text?: string;
    readonly file?: StoredFile;
  }[];
  readonly queries: readonly { readonly atMs: number; readonly token: string; readonly sql: string }[];
}

/** Lets a release's own code play a scene up to the scene's moment. */
export async function play(code: ServiceCode, root: string, name: SceneName): Promise<Sample> {
  const scene: Scene = scenes[name];
  const { world, s3, athena, follow } = stage(code, scene, 1);
  const since = (at: number) => at - BEGINNING;
  let sample: Sample | undefined;
  const taken = (): Sample => ({
    atMs: since(world.time.now()),
    objects: [...s3.objects]
      .filter(([key]) => scene.keeps.some((prefix) => key.startsWith(prefix)) && !key.endsWith('.gz'))
      .map(([key, { lastModified, document, text, file }]) => ({
        key,
        atMs: since(lastModified),
        ...(file ? { text, file } : { document }),
      })),
    queries: [...athena.queries.values()].map(({ submittedAt, token, compiled }) => ({
      atMs: since(submittedAt),
      token,
      sql: compiled.sql,
    })),
  });
  s3.onCreated.push((key, { document }) => {
    if (sample || typeof document !== 'object' || document === null) return;
    if (scene.at(key, document as Record<string, unknown>)) sample = taken();
  });
  const { asked = [DAY] } = scene;
  for (const [index, day] of asked.entries())
    void world.time.delay(1_000 * (index + 1)).then(() => follow(reportUrl([day])));
  if (asked.length === 0)
    s3.put(code.partnerKey(clientOf(PARTNER)), JSON.stringify(await addedPartner(root)));
  await world.time.run(() => sample !== undefined);
  if (!sample) throw new Error(`${name}: its moment never came`);
  return sample;
}

/** The record that `npm run partner -- add` writes into the register. */
async function addedPartner(root: string): Promise<PartnerRecord> {
  const file = pathToFileURL(join(root, 'tools/partner/add-partner.ts')).href;
  const { addPartner }: typeof import('../../tools/partner/add-partner.ts') = await import(file);
  let written: PartnerRecord | undefined;
  const register: Parameters<typeof addPartner>[0]['register'] = {
    readName: async () => undefined,
    writeName: async (_, value) => ({ value, etag: '' }),
    listNames: async () => [],
    readPartner: async () => undefined,
    writePartner: async (_, record) => {
      // `since` is the only member whose time comes from the real clock.
      written = { ...record, since: new Date(BEGINNING).toISOString() };
    },
  };
  const outputs = {} as Parameters<typeof addPartner>[0]['outputs'];
  await addPartner(
    { stage: 'dev', outputs, register, cognito: undefined, say: () => {} },
    {
      ...byOwner(() => []),
      name: PARTNER,
      client: clientOf(PARTNER),
      publisherCompanies: COMPANIES.map(idOf),
      contact: 'reports@partner.example',
    },
  );
  if (!written) throw new Error('the command wrote no record');
  return written;
}

/** The outcome of a request that goes on from a sample. */
export interface Outcome {
  readonly status: number;
  /** Whether the answer leads to a file with the clicks that the lake has for the partner's companies on `DAY`. */
  readonly isItsReport: boolean;
}

/**
 * Lets a release's code go on from a sample. If the sample has a ticket, the partner follows it; otherwise the partner
 * requests the report of `DAY`.
 */
export async function goOn(code: ServiceCode, name: SceneName, sample: Sample): Promise<Outcome> {
  const { world, lake, s3, athena, register, follow, lambda } = stage(code, scenes[name], 2);
  const { time } = world;
  const until = (atMs: number) => time.delay(BEGINNING + atMs - time.now());
  const record = sample.objects.find(({ key }) => key.startsWith('partners/'));
  if (record) register.textAt = (key) => (key === record.key ? JSON.stringify(record.document) : undefined);
  /** Stores the sample's objects and starts its queries, each at the time that the sample gives. */
  const write = async () => {
    const steps = [
      ...sample.objects.map(({ key, atMs, document, text, file }) => ({
        atMs,
        act: () => void s3.put(key, text ?? JSON.stringify(document), file && { file }),
      })),
      ...sample.queries.map(({ atMs, token, sql }) => ({
        atMs,
        act: () => void athena.start({ sql, parameters: [] }, token, running.getStore() as Invocation),
      })),
    ].sort((one, other) => one.atMs - other.atMs);
    for (const { atMs, act } of steps) {
      await until(atMs);
      act();
    }
  };
  const resume = async (): Promise<Outcome> => {
    await until(sample.atMs);
    const ticket = sample.objects
      .toSorted((one, other) => one.atMs - other.atMs)
      .findLast(({ key }) => key.startsWith('waiting/'));
    const url = ticket
      ? `/reporting/downloads/${ticket.key.slice('waiting/'.length, -'.json'.length)}/1`
      : reportUrl([DAY]);
    const { status, headers } = await follow(url);
    const location = headers['Location'];
    const clicks = clicksIn(lake.now(), [DAY], maskOf(COMPANIES));
    return {
      status,
      isItsReport:
        location !== undefined && s3.get(new URL(location).pathname.slice(1))?.text === reportCsv(clicks),
    };
  };
  let isOver = false;
  const outcome = Promise.all([
    resume(),
    lambda.invoke('the release before', 'before', { limitMs: 900_000, partner: PARTNER }, write),
  ]).finally(() => {
    isOver = true;
  });
  await time.run(() => isOver);
  const [resumed, { outcome: written }] = await outcome;
  if (written.state !== 'answered') throw new Error(`${name}: its sample can't be written again`);
  return resumed;
}

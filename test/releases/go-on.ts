import { reportUrl } from '../worlds/caller.ts';
import { type Invocation, running } from '../worlds/invocation.ts';
import { reportCsv } from '../worlds/modelled-athena.ts';
import { clicksIn, maskOf } from '../worlds/modelled-lake.ts';
import type { ServiceCode } from '../worlds/service-code.ts';
import { BEGINNING } from '../worlds/world.ts';
import type { Sample } from './play-scene.ts';
import { DAY, type SceneName, scenes } from './scenes.ts';
import { COMPANIES, PARTNER, stage } from './stage.ts';

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

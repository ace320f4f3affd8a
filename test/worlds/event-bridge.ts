import { RETRY_PAUSES_MS, settingsOf } from '../../lib/function-settings.ts';
import { judge } from './invariants/judge.ts';
import type { ModelledLambda } from './modelled-lambda.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import { recordOf, stateOf } from './parts.ts';
import { between, namedDice } from './random.ts';
import type { ModelledService } from './service.ts';
import type { World } from './world.ts';

const PUBLISH_LIMIT_MS = settingsOf('publish').timeoutSeconds * 1_000;
const ABANDON_LIMIT_MS = settingsOf('abandon').timeoutSeconds * 1_000;

/**
 * Models EventBridge. It runs the publishing function for each new object under `publications/`. If every try fails, it
 * runs the function that gives the publication up. Some events come twice, and some come late.
 *
 * @param onFailure called with the error that a function throws although none of its calls failed
 */
export function eventBridge(
  world: World,
  s3: ModelledS3,
  lambda: ModelledLambda,
  service: ModelledService,
  onFailure: (id: string, error: unknown) => void,
): void {
  const { time, seed, troubles } = world;

  /** Models Lambda's queue of events, which tries a failing function again. Resolves to whether a try succeeded. */
  const invoke = async (
    name: 'publish' | 'abandon',
    id: string,
    limitMs: number,
    handle: Parameters<typeof lambda.invoke<void>>[3],
  ): Promise<boolean> => {
    for (let tried = 0; ; tried++) {
      const { outcome, invocation } = await lambda.invoke<void>(name, `${id}.${tried}`, { limitMs }, handle);
      world.count(`${name} ${outcome.state}`);
      if (outcome.state === 'failed' && invocation.faults.length === 0) onFailure(id, outcome.error);
      if (outcome.state === 'answered') return true;
      const pauseMs = RETRY_PAUSES_MS[tried];
      if (pauseMs === undefined) return false;
      await time.delay(pauseMs);
    }
  };

  const deliver = async (key: string, id: string): Promise<void> => {
    const event = { detail: { object: { key } } };
    const isPublished = await invoke('publish', `publish:${id}`, PUBLISH_LIMIT_MS, (machine, context) =>
      service.publish(event, machine, context),
    );
    const execution = key.slice('publications/'.length, -'.json'.length);
    const isPlain = (each: string) => each.startsWith(`reports/${execution}/`) && each.endsWith('.csv');
    if (isPublished)
      return judge(world, { 'published-without-file': !s3.objects.keys().some(isPlain) }, () => id);
    const isTold = await invoke('abandon', `abandon:${id}`, ABANDON_LIMIT_MS, (machine, context) =>
      service.abandon(
        { requestPayload: event, requestContext: { condition: 'RetriesExhausted' } },
        machine,
        context,
      ),
    );
    const isNoted = s3.get(`abandoned/${execution}.json`) !== undefined;
    if (!isTold) return;
    const isUntold = !isNoted && stateOf(recordOf(s3, execution)) === 'publishing';
    judge(world, { 'abandoned-untold': isUntold }, () => `${id}: nobody who waits for it learns that`);
  };

  s3.onCreated.push((key) => {
    if (!key.startsWith('publications/')) return;
    const name = key.slice('publications/'.length);
    const draw = namedDice(seed, `event ${name}`);
    const isLate = draw() < 0.15 && troubles.happens('event comes late', name);
    const isTwice = draw() < 0.3 && troubles.happens('event comes twice', name);
    const soon = () => between(draw, 100, 1_500);
    time.after(isLate ? between(draw, 5_000, 120_000) : soon(), () => void deliver(key, name));
    if (isTwice) time.after(between(draw, 100, 90_000), () => void deliver(key, `${name}:again`));
  });
}

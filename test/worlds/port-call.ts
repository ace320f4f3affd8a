import { AthenaServiceException, InvalidRequestException } from '@aws-sdk/client-athena';
import { statusError } from '../s3/memory-client.ts';
import { type Fault, faultOf } from './faults.ts';
import { judge } from './invariants/judge.ts';
import { type Invocation, running } from './invocation.ts';
import type { VirtualSignal } from './virtual-time.ts';
import type { World } from './world.ts';

/** The operation of a call. */
export interface PortOperation {
  /** As in `S3 PutObject`. */
  readonly name: string;
  readonly key: string;
  /** The shortest and the longest time of the call, in milliseconds. */
  readonly takesMs: readonly [number, number];
}

/** What a function was writing when it answered takes its last steps within this time. A read does no harm. */
const LAST_STEPS_MS = 100;

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * Tries a call of a port once. The call takes time, and its effect happens at one moment within this time. It may fail
 * in every way in which calls to AWS fail.
 *
 * @param effect the effect of the call; if it throws, the call rejects with that error
 */
export function portCall<T>(
  world: World,
  { name, key, takesMs: [least, most] }: PortOperation,
  signal: AbortSignal | undefined,
  effect: (invocation: Invocation) => T,
): Promise<T> {
  const invocation = running.getStore();
  if (!invocation) throw new Error(`${name} is called by nobody`);
  if (invocation.isDead) return never();
  const { time } = world;
  const index = invocation.calls++;
  if (name === 'S3 ListObjectsV2') {
    invocation.listings += 1;
    invocation.listedAt = time.now();
    // The report that the request wants now comes later than a file that it has written for others.
    delete invocation.plainFileAt;
  }
  if (!/Get|Head|List/.test(name)) {
    const isLate = time.now() > (invocation.endedAt ?? Number.POSITIVE_INFINITY) + LAST_STEPS_MS;
    judge(world, { 'written-after-the-answer': isLate }, () => `${invocation.id}: ${name} ${key}`);
  }
  const draw = invocation.portDice;
  const [length, instant, which, extra] = [draw(), draw(), draw(), draw()];
  const fault = faultOf(world, invocation, { index, operation: name, key }, [which, extra]);
  if (fault) invocation.faults.push({ kind: fault.kind, operation: name, key });
  if (world.tell && fault) world.tell(invocation.id, `${name} ${key}: ${fault.kind}`);
  if (fault?.kind === 'dies before a call') {
    invocation.die('dies before a call');
    return never();
  }
  const normalMs = least + length * (most - least);
  const lastsMs = normalMs + (fault?.slowerMs ?? 0);
  return new Promise<T>((resolve, reject) => {
    let outcome: (() => void) | undefined;
    const takeEffect = () => {
      try {
        const value = effect(invocation);
        outcome = () => resolve(value);
        if (world.tell) world.tell(invocation.id, `${name} ${key}${value === undefined ? ': nothing' : ''}`);
      } catch (error) {
        outcome = () => reject(error);
        if (world.tell) world.tell(invocation.id, `${name} ${key}: ${String(error)}`);
      }
    };
    if (!fault || fault.takesEffect) time.silentlyAfter(instant * lastsMs, takeEffect);
    const deadline = (signal as Partial<VirtualSignal> | undefined)?.deadline ?? Number.POSITIVE_INFINITY;
    const abort = () => {
      if (!invocation.isDead) reject(Object.assign(new Error('aborted'), { name: 'AbortError' }));
    };
    if (signal instanceof AbortSignal) signal.addEventListener('abort', abort, { once: true });
    const answersAfterMs = fault?.isUnanswered ? Number.POSITIVE_INFINITY : lastsMs;
    if (deadline - time.now() < answersAfterMs) {
      time.after(deadline - time.now(), abort);
      return;
    }
    time.after(answersAfterMs, () => {
      if (invocation.isDead) return;
      if (fault?.kind === 'dies after a call') invocation.die('dies after a call');
      else if (fault?.isFailure) reject(errorOf(world, fault, name, invocation));
      else outcome?.();
    });
  });
}

function errorOf(world: World, { kind }: Fault, operation: string, { portDice, calls }: Invocation): Error {
  const isAthena = operation.startsWith('Athena');
  if (kind === 'throttled' && isAthena && portDice() < 0.5)
    return new AthenaServiceException({
      name: 'ThrottlingException',
      message: 'Rate exceeded',
      $fault: 'client',
      $metadata: { httpStatusCode: 400 },
    });
  if (kind === 'throttled') return statusError('SlowDown', 503);
  if (kind === 'denied')
    return portDice() < 0.5
      ? statusError('AccessDeniedException', 400)
      : new InvalidRequestException({ message: 'refused', $metadata: { httpStatusCode: 400 } });
  if (kind === 'fails') {
    // S3 answers a request that it received too slowly with a status of the caller's faults, though it is temporary.
    const isTimeout = operation === 'S3 PutObject' && !world.plan.isMixed && calls % 2 === 1;
    if (isTimeout) world.count('S3 times a request out');
    return isTimeout ? statusError('RequestTimeout', 400) : statusError('InternalError', 500);
  }
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

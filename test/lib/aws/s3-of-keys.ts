import type { ListObjectsV2CommandInput, S3Client } from '@aws-sdk/client-s3';
import { expect } from 'vitest';

const PAGE = 1_000;

/** S3's order of keys: by their bytes in UTF-8. */
export const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

/**
 * An S3 that lists these keys. The listing of a prefix in `errors` throws the error of that prefix. All calls that run
 * at the same time are answered in one round, so the number of rounds shows how many calls ran one after the other.
 */
export function s3Of(keys: readonly string[], errors: Readonly<Record<string, unknown>> = {}) {
  const sorted = keys.toSorted(byBytes);
  const inputs: ListObjectsV2CommandInput[] = [];
  const callsOfRounds: number[] = [];
  let round: Promise<void> | undefined;
  const endOfRound = () => {
    round ??= new Promise((end) => {
      callsOfRounds.push(0);
      setImmediate(() => {
        round = undefined;
        end();
      });
    });
    callsOfRounds.push((callsOfRounds.pop() ?? 0) + 1);
    return round;
  };
  /** The index of the first key that is not before this text. */
  const placeOf = (text: string) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (byBytes(sorted[middle] ?? '', text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const s3 = {
    send: async (
      command: { readonly input: ListObjectsV2CommandInput; readonly constructor: { name: string } },
      { abortSignal }: { abortSignal: AbortSignal },
    ) => {
      const { input } = command;
      expect(command.constructor.name).toBe('ListObjectsV2Command');
      expect(abortSignal).toBeInstanceOf(AbortSignal);
      inputs.push(input);
      await endOfRound();
      const { Bucket, Prefix = '', StartAfter = '', ContinuationToken } = input;
      expect(Bucket).toBe('events');
      if (Prefix in errors) throw errors[Prefix];
      const after = ContinuationToken ?? StartAfter;
      const from = byBytes(after, Prefix) < 0 ? Prefix : after;
      const found = sorted
        .slice(placeOf(from), placeOf(from) + PAGE + 2)
        .filter((key) => key.startsWith(Prefix) && key !== after);
      const page = found.slice(0, PAGE);
      const Contents = page.map((Key) => ({ Key, ETag: `"${Key}"`, Size: 7, LastModified: new Date(5_000) }));
      const NextContinuationToken = page.at(-1);
      return { ...(page.length > 0 && { Contents }), ...(found.length > PAGE && { NextContinuationToken }) };
    },
  } as unknown as S3Client;
  return { s3, inputs, rounds: () => callsOfRounds.length, mostAtOnce: () => Math.max(...callsOfRounds) };
}

/** `count` days in a row from the instant `start` on, as `YYYY-MM-DD`. */
export const daysOf = (start: number, count: number) =>
  Array.from({ length: count }, (_, nth) => new Date(start + nth * 86_400_000).toISOString().slice(0, 10));

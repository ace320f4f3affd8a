import type { S3Client } from '@aws-sdk/client-s3';

/** An answer of the SDK, to which `keepAnswerDates` has added `date`. */
interface Answer {
  readonly $metadata: object & { readonly date?: number };
}

type Middleware = Parameters<S3Client['middlewareStack']['add']>[0];

/**
 * Adds the time of AWS's answer (header `Date`) to each answer that a client returns. The client may be of any AWS
 * service. Ages and durations then depend on AWS's clock only.
 */
export function keepAnswerDates<C extends { readonly middlewareStack: { readonly add: unknown } }>(
  client: C,
): C {
  const keepDate = ((next: (args: unknown) => Promise<unknown>) => async (args: unknown) => {
    const result = (await next(args)) as {
      readonly response?: { readonly headers?: Readonly<Record<string, string>> };
      readonly output: { readonly $metadata: { date?: number } };
    };
    const date = Date.parse(result.response?.headers?.['date'] ?? '');
    if (!Number.isNaN(date)) result.output.$metadata.date = date;
    return result;
  }) as unknown as Middleware;
  const { middlewareStack } = client as unknown as Pick<S3Client, 'middlewareStack'>;
  middlewareStack.add(keepDate, { step: 'deserialize', name: 'keepAnswerDate', priority: 'high' });
  return client;
}

/** When AWS gave an answer, in milliseconds since 1970. If the answer has no time, the present time. */
export const dateOf = ({ $metadata: { date } }: Answer): number => date ?? Date.now();

import { AthenaServiceException } from '@aws-sdk/client-athena';
import type { S3Client } from '@aws-sdk/client-s3';
import { PARTITION_COLUMN, tables } from '../report/tables.ts';

/**
 * A failed call to AWS, with the facts for the log and for AWS's support. The log shows every member. So an error with
 * which AWS answered is not the `cause`: its message may quote an object's key, and a ticket's is as good as the report.
 */
export class AwsCallFailed extends Error {
  override readonly name = 'AwsCallFailed';
  /** The AWS service and its operation, for example `S3 HeadObject`. */
  readonly operation: string;
  /** Undefined if no answer came. */
  readonly httpStatus: number | undefined;
  readonly awsRequestId: string | undefined;
  /** The action that the role may not perform, for example `s3:GetObject`. Undefined if AWS names none. */
  readonly refusedAction: string | undefined;
  /** Athena's message without values. S3's messages are left out. */
  readonly detail: string | undefined;

  constructor(operation: string, cause: unknown) {
    const { httpStatusCode, requestId } = metadataOf(cause);
    const name = cause instanceof Error ? cause.name : String(cause);
    super(
      `${operation}: ${name}, status ${httpStatusCode ?? 'none'}, request ${requestId ?? 'none'}`,
      httpStatusCode === undefined ? { cause } : {},
    );
    this.operation = operation;
    this.httpStatus = httpStatusCode;
    this.awsRequestId = requestId;
    this.refusedAction = cause instanceof Error ? REFUSED_ACTION.exec(cause.message)?.[1] : undefined;
    this.detail = cause instanceof AthenaServiceException ? withoutValues(cause.message) : undefined;
  }
}

/** AWS: "User: arn:… is not authorized to perform: s3:GetObject on resource: …" */
const REFUSED_ACTION = /\bnot authorized to perform: ([a-z\d-]+:[A-Za-z]+)\b/;

interface Metadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  /** Added by `keepAnswerDates`. */
  isSignedAtWrongTime?: boolean;
}

export const metadataOf = (error: unknown): Metadata =>
  (error as { readonly $metadata?: Metadata } | undefined)?.$metadata ?? {};

/** For an error that is an answer, such as a missing key: `catch(undefinedIf(isMissing))`. Throws every other error. */
export const undefinedIf =
  (isAnswer: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isAnswer(error)) throw error;
  };

/**
 * Whether S3 refused a conditional write. 412: the object does not meet the condition. `NoSuchKey`: the object that was
 * to be replaced is gone; the other errors with status 404, such as `NoSuchBucket`, say nothing about it.
 */
export const isRefusedCondition = (error: unknown): boolean =>
  metadataOf(error).httpStatusCode === 412 || (error as Error | undefined)?.name === 'NoSuchKey';

/**
 * Whether a conditional write without another try has failed: refused, or 409, another write was under way. After a 409,
 * only another try would show which of the two succeeded.
 */
export const isLostWrite = (error: unknown): boolean =>
  isRefusedCondition(error) || metadataOf(error).httpStatusCode === 409;

/**
 * From this difference on between a request's time and AWS's, the request may have been refused for it. AWS accepts 5
 * minutes, S3 accepts 15. The SDK corrects differences from this one on, too.
 */
const LARGEST_CLOCK_ERROR_MS = 240_000;

/**
 * Adds the time of AWS's answer (header `Date`) to each answer, so that ages and durations depend on AWS's clock only. An
 * error whose request was signed with a wrong time gets `isSignedAtWrongTime`: the SDK now knows the right time.
 */
export function keepAnswerDates<C extends { readonly middlewareStack: { readonly add: unknown } }>(
  client: C,
): C {
  const { middlewareStack } = client as unknown as Pick<S3Client, 'middlewareStack'>;
  middlewareStack.add(
    (next) => async (args) => {
      try {
        const result = await next(args);
        const date = dateHeader(result.response);
        if (result.output && !Number.isNaN(date)) Object.assign(result.output.$metadata, { date });
        return result;
      } catch (error) {
        const { $metadata, $response } = error as { $metadata?: Metadata; $response?: unknown };
        const errorMs = Math.abs(dateHeader($response) - signedAt(args.request));
        if ($metadata && errorMs >= LARGEST_CLOCK_ERROR_MS) $metadata.isSignedAtWrongTime = true;
        throw error;
      }
    },
    { step: 'deserialize', name: 'keepAnswerDate', priority: 'high' },
  );
  return client;
}

const header = (message: unknown, name: string): string =>
  (message as { headers?: Readonly<Record<string, string>> } | undefined)?.headers?.[name] ?? '';

const dateHeader = (response: unknown): number => Date.parse(header(response, 'date'));

/** The time with which a request was signed: the header `X-Amz-Date`, for example `20260102T030405Z`. */
const signedAt = (request: unknown): number =>
  Date.parse(header(request, 'x-amz-date').replace(/^(....)(..)(..)T(..)(..)/, '$1-$2-$3T$4:$5:'));

/** When AWS gave an answer that `keepAnswerDates` has seen, in milliseconds since 1970; else the present time. */
export const dateOf = ({ $metadata }: { readonly $metadata: object & { readonly date?: number } }): number =>
  $metadata.date ?? Date.now();

const LEFT_OUT = '…';

/** The most characters that are read. A location has at most 1,024 (S3), the words around it some hundred. */
const LONGEST_TEXT = 2_000;

const TABLE = tables.map(({ name }) => name).join('|');
const columns = tables.flatMap((table) => table.columns.map(({ name }) => name));
const COLUMN = [PARTITION_COLUMN, ...columns].join('|');
const DAY = `${PARTITION_COLUMN}=\\d{4}-\\d\\d-\\d\\d`;
const SCALAR = 'bigint|integer|int|double|real|float|boolean|binary|varchar|string|date|timestamp';
const SIZED = '(?:decimal|varchar|char|timestamp)\\(\\d+(?:, ?\\d+)?\\)';
/** A file or folder of a table, or a result of Athena. None of these names contains a row's value. */
const LOCATION = `[\\w./:-]*/(?:(?:${TABLE})(?:/${DAY}(?:/[\\w.=%-]*\\w)?)?|athena/[\\w-]+(?:\\.\\w+)*)/?(?![\\w/])`;
const NAME = `(?:\\w+\\.)*(?:${TABLE})|${COLUMN}|${DAY}|${SCALAR}`;

/** Text that is kept, although it is quoted or has digits. */
const KEPT = new RegExp(
  [
    `(["'\`]?)(?:${LOCATION}|${SIZED})\\1`,
    `(["'\`])(?:${NAME})\\2`,
    String.raw`\bline \d+:\d+`,
    String.raw`\bStatus Code: \d{3}\b`,
    // An apostrophe within words such as "can't" or "the column's type" is no quote.
    String.raw`(?<=[a-z])'[st]\b`,
  ].join('|'),
  'gi',
);

/** The first mark for a kept piece while values are removed. Unicode gives these characters no meaning. */
const FIRST_MARK = 0xe000;
const MARKS = /[\uE000-\uF8FF]/g;

/**
 * Patterns of the values in engines' messages. A value may contain quotes and the engine's own words. So each pattern
 * matches as much as it can: up to the last possible end, or else to the end of the text.
 */
const VALUES: readonly RegExp[] = [
  // Values in quotes.
  /(["'`])(?:.*\1|.*)/gs,
  // Trino: "Value cannot be cast to date: abc", "Expected magic number: PAR1 got: abcd [s3://…]"
  /(?<=\b(?:cast to [^:]*|got|string|format|value): ).*?(?= \[[\uE000-\uF8FF]\]$|$)/gis,
  // Athena: "Cannot convert value abc of type String to a REAL value"
  /(?<=\bconvert value )(?:.*(?= of type\b)|.*)/gis,
  // DuckDB: "Type INT64 with value 300 can't be cast"
  /(?<=\bwith value )(?:.*(?= can)|.*)/gis,
  // Numbers, dates and times anywhere in the text.
  /(?<![\w\uE000-\uF8FF])[-+]?\.?\d[\w.:+-]*/g,
];

/**
 * The first line of an engine's error message, for the log: the engine's words, locations in the lake and names of tables,
 * columns and types, without values of rows and filters, which belong to a partner. DuckDB's other lines quote values.
 */
export function withoutValues(text: string): string {
  const [line = ''] = text.replace(MARKS, '').split(/[\r\n]/, 1);
  const pieces: string[] = [];
  const marked = line
    .slice(0, LONGEST_TEXT)
    .replace(KEPT, (piece) => String.fromCharCode(FIRST_MARK + pieces.push(piece) - 1));
  const left = VALUES.reduce((rest, values) => rest.replace(values, LEFT_OUT), marked)
    .replace(MARKS, (mark) => pieces[mark.charCodeAt(0) - FIRST_MARK] ?? LEFT_OUT)
    .trim();
  return line.length > LONGEST_TEXT ? left + LEFT_OUT : left;
}

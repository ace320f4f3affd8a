import { TooManyRequestsException } from '@aws-sdk/client-athena';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import * as answers from '../../../lib/aws/answers.ts';

const { AwsCallFailed, isLostWrite, isRefusedCondition, withoutValues } = answers;

const $metadata = { httpStatusCode: 400, requestId: 'abc-1' };
const throttled = new TooManyRequestsException({ message: "slow down, user 'secret'", $metadata });

/** S3's refusal of the right to read a ticket, in S3's words. */
const refusal = (message: string) =>
  new S3ServiceException({ name: 'AccessDenied', $fault: 'client', message, $metadata });

describe('AwsCallFailed', () => {
  it("names the call, the error, its HTTP status and AWS's request id", () => {
    const failure = new AwsCallFailed('Athena StartQueryExecution', throttled);
    const known = { operation: 'Athena StartQueryExecution', httpStatus: 400, awsRequestId: 'abc-1' };
    const message = 'Athena StartQueryExecution: TooManyRequestsException, status 400, request abc-1';
    const told = { name: 'AwsCallFailed', message, refusedAction: undefined, detail: 'slow down, user …' };
    expect(failure).toMatchObject({ ...known, ...told });
  });

  it.each([
    ['throttled by Athena', throttled],
    ['refused by S3', refusal('arn:aws:s3:::results/waiting/secret.json')],
  ])('does not hold the error of a call that was %s, because its message may quote a secret', (_, error) => {
    expect(new AwsCallFailed('any', error).cause).toBeUndefined();
  });

  it.each([
    ['no answer came', Object.assign(new Error('socket'), { $metadata: { attempts: 1 } })],
    ['our code has a fault', new TypeError('x')],
  ])('holds the error if %s', (_, error) => {
    expect(new AwsCallFailed('S3 HeadObject', error).cause).toBe(error);
  });

  it.each([
    [
      's3:GetObject',
      'User: arn:aws:sts::1:assumed-role/x/y is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::results/waiting/secret.json" because no identity-based policy allows the s3:GetObject action',
    ],
    ['kms:Decrypt', 'You are not authorized to perform: kms:Decrypt on the resource.'],
    [undefined, 'Access Denied'],
    [undefined, 'not authorized to perform: waiting/secret.json'],
  ])('says which action was refused: %s', (action, message) => {
    const failure = new AwsCallFailed('S3 GetObject', refusal(message));
    expect([failure.refusedAction, failure.detail]).toEqual([action, undefined]);
    expect(JSON.stringify(Object.values(failure))).not.toContain('secret');
  });

  it('says “none” for status and request if no answer came', () => {
    const failure = new AwsCallFailed('S3 HeadObject', new TypeError('x'));
    expect(failure.message).toBe('S3 HeadObject: TypeError, status none, request none');
    expect([failure.httpStatus, failure.awsRequestId]).toEqual([undefined, undefined]);
  });

  it.each([
    ['text', 'S3 HeadObject: text, status none, request none'],
    [undefined, 'S3 HeadObject: undefined, status none, request none'],
  ])('accepts a cause that is no error: %j', (thrown, message) => {
    expect(new AwsCallFailed('S3 HeadObject', thrown).message).toBe(message);
  });
});

it.each([
  ['PreconditionFailed', 412, true, true],
  ['NoSuchKey', 404, true, true],
  ['ConditionalRequestConflict', 409, false, true],
  ['NoSuchBucket', 404, false, false],
  ['NoSuchUpload', 404, false, false],
  ['AccessDenied', 403, false, false],
])('S3’s %s (%i) is a refused condition: %s; a lost write: %s', (name, httpStatusCode, isRefused, isLost) => {
  const error = Object.assign(new Error('x'), { name, $metadata: { httpStatusCode } });
  expect([isRefusedCondition(error), isLostWrite(error)]).toEqual([isRefused, isLost]);
});

const file = 's3://the-lake/live/publisher_events/day=2026-01-31/part-00000.snappy.parquet';
const localFile = '/srv/lake/advertiser_events/day=2026-01-31/a.parquet';
const result = 's3://the-results/athena/3f9c2a1e-1111-4222-8333-000000000000.csv';

const mismatch =
  'HIVE_PARTITION_SCHEMA_MISMATCH: There is a mismatch between the table and partition schemas. The types are incompatible ' +
  "and cannot be coerced. The column 'clicks' in table 'reports_prod.publisher_events' is declared as type 'bigint', but " +
  "partition 'day=2026-01-31' declared column 'clicks' as type 'double'.";

describe('withoutValues', () => {
  it.each([
    `HIVE_BAD_DATA: Field revenue's type DOUBLE in parquet file ${file} is incompatible with type decimal(18,6) defined in table schema`,
    `HIVE_CURSOR_ERROR: Failed to read Parquet file: ${file}`,
    `HIVE_CURSOR_ERROR: Failed to read Parquet file: ${file.replace('part-', 'part%20')}`,
    `HIVE_BAD_DATA: Unsupported Trino column type (bigint) for Parquet column ([clicks] optional binary clicks (STRING)): ${file}`,
    mismatch,
    "COLUMN_NOT_FOUND: line 1:8: Column 'clicks' cannot be resolved or requester is not authorized to access requested resources",
    "TABLE_NOT_FOUND: line 1:15: Table 'awsdatacatalog.reports_prod.publisher_events' does not exist",
    `HIVE_BAD_DATA: No magic bytes found at end of file '${localFile}'`,
    `PERMISSION_DENIED: Access denied when writing output to url: ${result} . Please ensure you are allowed to access the S3 bucket.`,
    'Insufficient Lake Formation permission(s): Required Select on publisher_events (Service: AmazonDataCatalog; Status Code: 400; Error Code: AccessDeniedException; Proxy: null)',
    'Query exhausted resources at this scale factor',
  ])('keeps an error unchanged that quotes no value: %s', (text) => {
    expect(withoutValues(text)).toBe(text);
  });
});

/** Of the first line, with … in place of each marked value. */
const logged = (marked: string) => marked.replaceAll(/«[^»]*»/g, '…').split('\n')[0];

describe('withoutValues, given an error that quotes values,', () => {
  // Each value that is left out stands between « and ».
  it.each([
    // Errors of Trino and Athena.
    "INVALID_CAST_ARGUMENT: Cannot cast «'abc'» to BIGINT",
    'INVALID_CAST_ARGUMENT: Value cannot be cast to timestamp: «tomorrow at noon»',
    'NUMERIC_VALUE_OUT_OF_RANGE: bigint addition overflow: «9223372036854775807» + «1»',
    'INVALID_FUNCTION_ARGUMENT: Invalid format: «"2026-13-01 noon" is malformed at "13-01 noon"»',
    `HIVE_BAD_DATA: Error parsing field value «'Acme, Inc.'» for field «5:» For input string: «"Acme, Inc."»`,
    'HIVE_BAD_DATA: Error Parsing a column in the table: Cannot convert value «a secret» of type String to a REAL value',
    `HIVE_BAD_DATA: Malformed Parquet file. Expected magic number: PAR1 got: «a,b» [${file}]`,
    `HIVE_CANNOT_OPEN_SPLIT: Error opening Hive split ${file} (offset=«0», length=«18273»): The specified key does not exist. (Service: Amazon S3; Status Code: 404; Error Code: NoSuchKey)`,
    "HIVE_INVALID_PARTITION_VALUE: Invalid partition value «'abc'» for DATE partition key: day",
    "SYNTAX_ERROR: line 1:8: mismatched input «'secret'». Expecting: <EOF>",
    "«1» validation error detected: Value «'[secret, 2]' at 'executionParameters'» failed to satisfy constraint",
    // Errors of DuckDB.
    "Conversion Error: Could not convert string «'abc'» to INT64 when casting from source column clicks\n\nLINE 1: SELECT abc",
    "Conversion Error: Type INT64 with value «300» can't be cast because the value is out of range for the destination type INT8",
    'Conversion Error: invalid date field format: «"abc", expected format is (YYYY-MM-DD) when casting from source column s»',
    'Invalid Input Error: Could not parse string «"abc" according to format specifier "%Y"»\nabc\n^',
    // An error that names a file outside the lake.
    'HIVE_CURSOR_ERROR: Cannot cast «`s3://elsewhere/secret.parquet`» to BIGINT',
  ])('leaves the values out of: %s', (marked) => {
    expect(withoutValues(marked.replaceAll(/[«»]/g, ''))).toBe(logged(marked));
  });

  it.each([
    ['a quote', "O'secret"],
    ['quotes and spaces', "a' secret 'b"],
    ['a column in quotes', "a 'clicks' secret"],
    ['a column in quotes, and another quote', "a' secret 'clicks' secret"],
    ['the engine’s own words', "a' to BIGINT because secret"],
    ['an apostrophe', "it's secret, isn't it"],
    ['a line break', 'a\nsecret'],
    ['words that can follow a value', 'a of type secret can secret to secret'],
    ['a file of the lake in brackets', `a [${file}] secret`],
    ['7,000 characters', 'secret '.repeat(1_000)],
  ])('leaves out a value that has %s', (_, value) => {
    const within = ["'", '"', '`'].map(
      (quote) => `INVALID_CAST_ARGUMENT: Cannot cast ${quote}${value}${quote} to BIGINT`,
    );
    const casts = [
      `Type VARCHAR with value ${value} can't be cast`,
      `Value cannot be cast to date: ${value}`,
    ];
    const words = [`Cannot convert value ${value} of type String to a REAL value`];
    const magic = `Expected magic number: PAR1 got: ${value} [${file}]`;
    const bad = [...casts, ...words, magic].map((text) => `HIVE_BAD_DATA: ${text}`);
    for (const text of [...within, ...bad]) expect(withoutValues(text)).not.toContain('secret');
  });

  it('leaves out a number even after the character by which the code itself marks the text that it keeps', () => {
    expect(withoutValues('bigint addition overflow: \uE000123 + \uE00145')).toBe(
      'bigint addition overflow: … + …',
    );
  });

  it('leaves out blanks at the ends, and all lines but the first', () => {
    expect(withoutValues(' GENERIC_INTERNAL_ERROR: null \t\nat line 1')).toBe('GENERIC_INTERNAL_ERROR: null');
  });

  it('leaves out everything after the first 2,000 characters', () => {
    expect(withoutValues('x'.repeat(2_000))).toBe('x'.repeat(2_000));
    expect(withoutValues('x'.repeat(2_001))).toBe(`${'x'.repeat(2_000)}…`);
  });
});

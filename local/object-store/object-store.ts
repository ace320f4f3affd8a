import { renameSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DOWNLOAD_CORS } from '../../lib/names.ts';
import { clientGone, type Faults } from '../faults/faults.ts';
import { OTHER_HOSTS, serve } from '../serve.ts';
import {
  CREATES_OBJECT,
  LISTING,
  type Operation,
  operationName,
  operations,
  readingOperations,
} from './operations.ts';
import {
  accessDenied,
  conditionalRequestConflict,
  parameterOf,
  readRequest,
  S3Error,
  type StoreAnswer,
  type StoreRequest,
} from './s3-protocol.ts';
import { ObjectFiles } from './stored-file.ts';
import { credentials, verifySignature } from './verify-signature.ts';

export type ObjectStore = Awaited<ReturnType<typeof startObjectStore>>;

interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

/** S3 ends a slow upload after less. A test on a busy machine may take seconds for an upload. */
const LONGEST_UPLOAD_MS = 60_000;

/**
 * Starts a stand-in for S3 on a free port of this machine. It keeps its objects in `directory`, and has only `buckets`
 * and those in `shown`. It answers `NotImplemented` to the operations that the service does not use.
 */
export async function startObjectStore(options: {
  readonly directory: string;
  readonly buckets: readonly string[];
  /** Directories that are served as buckets, by the bucket's name. These buckets can't be written. */
  readonly shown?: Readonly<Record<string, string>>;
  /** Prefixes under which a write without `If-None-Match` is denied, as by the buckets' policy. */
  readonly createOnlyPrefixes?: readonly string[];
  /** Buckets that nobody may list. As in S3, a missing object in them gives `AccessDenied`, not `NoSuchKey`. */
  readonly unlisted?: readonly string[];
  /** Called for every object after its creation, as S3 sends an event to EventBridge. */
  readonly onObjectCreated?: (object: ObjectName) => void;
  readonly faults?: Faults;
  /** The CORS rules of the buckets that have one. Pages of other origins can't read any answer of the other buckets. */
  readonly corsRules?: Readonly<Record<string, typeof DOWNLOAD_CORS>>;
}) {
  const { directory, buckets, onObjectCreated, faults, corsRules = {} } = options;
  const { shown = {}, createOnlyPrefixes = [], unlisted = [] } = options;
  const own = new Map<string, ObjectFiles>();
  const operationsOf = new Map<string, Readonly<Record<string, Operation>>>();
  for (const bucket of buckets) {
    const objects = new ObjectFiles(join(directory, bucket));
    own.set(bucket, objects);
    operationsOf.set(bucket, operations(objects));
  }
  for (const [bucket, path] of Object.entries(shown)) operationsOf.set(bucket, readingOperations(path));

  /** Answers a request. If a fault stalls it, resolves to undefined once the client has disconnected. */
  const answer = async (request: StoreRequest, response: ServerResponse) => {
    await verifySignature(request);
    const { bucket, key, method } = request;
    const bucketOperations = operationsOf.get(bucket);
    if (!bucketOperations) throw noSuchBucket(bucket);
    const name = operationName(request);
    const struck = (await faults?.strike('s3', callName(name, request))) ?? [];
    if (struck.some(({ stall }) => stall)) {
      await clientGone(response);
      return undefined;
    }
    if (struck.some(({ throttle }) => throttle))
      throw new S3Error('SlowDown', 'Please reduce your request rate.');
    if (struck.some(({ status }) => status === 409)) throw conditionalRequestConflict();
    if (struck.some(({ status }) => status === 500)) throw internalError();
    const createsObject = CREATES_OBJECT.includes(name);
    const isUnlisted = unlisted.includes(bucket);
    const isDenied =
      (bucket in shown && !['GET', 'HEAD'].includes(method)) ||
      (createsObject &&
        !request.headers['if-none-match'] &&
        createOnlyPrefixes.some((prefix) => key.startsWith(prefix))) ||
      (isUnlisted && name === LISTING);
    if (isDenied) throw accessDenied();
    const operation = bucketOperations[name];
    if (!operation) throw new S3Error('NotImplemented', `${name} is not implemented`);
    try {
      const answered = await operation(request);
      if (createsObject) onObjectCreated?.({ bucket, key });
      return answered;
    } catch (error) {
      const isMissing = error instanceof S3Error && error.code === 'NoSuchKey';
      throw isUnlisted && isMissing ? accessDenied() : error;
    }
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const [, bucket = ''] = (incoming.url ?? '').split(/[/?]/);
    const corsRule = corsRules[bucket];
    try {
      if (corsRule && applyCorsRule(corsRule, incoming, response)) return;
      const answered = await answer(readRequest(incoming), response);
      if (answered) await send(response, answered);
    } catch (error) {
      // It is too late for an error answer: the client has disconnected, or the file can't be read to its end.
      if (response.headersSent) response.destroy();
      else await send(response, (error instanceof S3Error ? error : internalError()).toAnswer());
    }
  };
  return {
    ...(await serve(handle, { hosts: OTHER_HOSTS, longestRequestMs: LONGEST_UPLOAD_MS })),
    credentials,
    region: 'us-east-1',
    /**
     * Turns an existing file into an object by moving it. The file must be on the store's disk. Throws if the bucket
     * does not exist.
     */
    putFile(object: ObjectName, path: string): void {
      const objects = own.get(object.bucket);
      if (!objects) throw noSuchBucket(object.bucket);
      objects.adopt(path, object.key);
      onObjectCreated?.(object);
    },
    /** Makes a text an object. Without a text, removes the object. */
    async put({ bucket, key }: ObjectName, text: string | undefined): Promise<void> {
      const metadata = { 'content-type': 'application/json' };
      if (text === undefined) own.get(bucket)?.delete(key);
      else await own.get(bucket)?.write(key, { bytes: Buffer.from(text), metadata, publish: renameSync });
    },
  };
}

async function send(response: ServerResponse, { status, headers = {}, body }: StoreAnswer): Promise<void> {
  const hasLength = 'content-length' in headers || status === 204 || status === 304;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const length = bytes instanceof Readable ? undefined : (bytes?.length ?? 0);
  response.writeHead(status, { ...headers, ...(!hasLength && { 'content-length': length }) });
  if (bytes instanceof Readable) await pipeline(bytes, response);
  else response.end(bytes);
}

const noSuchBucket = (bucket: string) =>
  new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });

const internalError = () =>
  new S3Error('InternalError', 'We encountered an internal error. Please try again.');

/** The text in which a fault's `match` must occur: `GET athena/x.csv`, `LIST <bucket>/<prefix>`. */
const callName = (name: string, request: StoreRequest): string =>
  name === LISTING
    ? `LIST ${request.bucket}/${parameterOf(request, 'prefix') ?? ''}`
    : `${request.method} ${request.key}`;

/**
 * Applies the rule as S3 does, to requests with an `Origin`. Answers every preflight, signed or not, or throws S3's
 * refusal. To the answer of any other request, adds CORS headers if the rule allows the method, even if the answer is
 * then a refusal. Returns whether the request has been answered.
 */
function applyCorsRule(
  { methods, allowedHeaders, exposedHeaders, maxAgeSeconds }: typeof DOWNLOAD_CORS,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const {
    origin,
    'access-control-request-method': preflightMethod,
    'access-control-request-headers': names,
  } = request.headers;
  const isPreflight = request.method === 'OPTIONS';
  if (origin === undefined) return false;
  const headers = allowedHeaders.map((name) => name.toLowerCase());
  const wanted = isPreflight && names ? names.toLowerCase().split(/\s*,\s*/) : [];
  const method = isPreflight ? preflightMethod : request.method;
  const isAllowed = methods.some((name) => name === method) && wanted.every((name) => headers.includes(name));
  if (isAllowed) {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Methods', methods.join(', '));
    response.setHeader('Access-Control-Expose-Headers', exposedHeaders.join(', '));
    response.setHeader('Access-Control-Max-Age', String(maxAgeSeconds));
    response.setHeader('Vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
    if (wanted.length > 0) response.setHeader('Access-Control-Allow-Headers', wanted.join(', '));
  }
  if (!isPreflight) return false;
  if (isAllowed) response.writeHead(200).end();
  else
    throw new S3Error('AccessForbidden', 'CORSResponse: This CORS request is not allowed.', {
      ResourceType: 'OBJECT',
    });
  return true;
}

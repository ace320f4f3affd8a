import { linkSync, renameSync } from 'node:fs';
import { buffer, text } from 'node:stream/consumers';
import { DirectoryBucket } from './directory-bucket.ts';
import { MultipartUploads } from './multipart-uploads.ts';
import { listObjects, type Metadata, type ReadableBucket, readObject } from './read-bucket.ts';
import {
  conditionalRequestConflict,
  noSuchKey,
  parameterOf,
  S3Error,
  type StoreAnswer,
  type StoreRequest,
  xmlAnswer,
} from './s3-protocol.ts';
import { type Bytes, type ObjectFiles, openStoredFile, type Publish } from './stored-file.ts';

export type Operation = (request: StoreRequest) => StoreAnswer | Promise<StoreAnswer>;

export const LISTING = 'GET bucket list-type';
const PUT = 'PUT object';
const COMPLETE_UPLOAD = 'POST object uploadId';

/** The operations that create an object. */
export const CREATES_OBJECT: readonly string[] = [PUT, COMPLETE_UPLOAD];

// Query parameters that do not change the operation. Any other parameter may name a subresource: a DELETE with
// `?tagging` must not delete the object.
const PLAIN_PARAMETERS =
  /^(?:x-amz-.*|x-id|response-.*|prefix|max-keys|start-after|continuation-token|encoding-type|fetch-owner)$/i;

/** The name of a request's operation, from method, target and subresources: `GET object`, `POST object uploads`, … */
export function operationName({ method, key, parameters, headers }: StoreRequest): string {
  const subresources = new Set(
    parameters.map(([name]) => name).filter((name) => !PLAIN_PARAMETERS.test(name)),
  );
  const copy = 'x-amz-copy-source' in headers ? ['copy'] : [];
  return [method, key ? 'object' : 'bucket', ...[...subresources].sort(), ...copy].join(' ');
}

/** The operations in a bucket that shows a directory, by {@link operationName}. */
export const readingOperations = (directory: string) => reading(new DirectoryBucket(directory));

const reading = (bucket: ReadableBucket): Readonly<Record<string, Operation>> => ({
  'HEAD bucket': () => ({ status: 200 }),
  [LISTING]: (request) => listObjects(request, bucket),
  'HEAD object': (request) => readObject(request, bucket),
  'GET object': (request) => readObject(request, bucket),
});

/** The operations in a bucket that the store writes itself, by {@link operationName}. */
export function operations(objects: ObjectFiles): Readonly<Record<string, Operation>> {
  const uploads = new MultipartUploads(objects);
  const conditional = new ConditionalWrites();
  const uploadId = (request: StoreRequest) => parameterOf(request, 'uploadId') ?? '';

  return {
    ...reading(objects),
    [PUT]: async (request) => {
      const etag = await conditional.run(request, async (publish) =>
        objects.write(request.key, { bytes: await bodyOf(request), metadata: metadataOf(request), publish }),
      );
      return { status: 200, headers: { etag } };
    },
    'DELETE object': ({ key }) => {
      objects.delete(key);
      conditional.objectDeleted(key);
      return { status: 204 };
    },
    'POST object uploads': async (request) => {
      const UploadId = await uploads.start(request.key, metadataOf(request));
      return xmlAnswer('InitiateMultipartUploadResult', { ...objectOf(request), UploadId });
    },
    'PUT object partNumber uploadId': async (request) => {
      const partNumber = parameterOf(request, 'partNumber') ?? '';
      const etag = await uploads.putPart(uploadId(request), partNumber, await bodyOf(request));
      return { status: 200, headers: { etag } };
    },
    [COMPLETE_UPLOAD]: async (request) => {
      const parts = partsOf(await text(request.body));
      const ETag = await conditional.run(request, (publish) =>
        uploads.complete(uploadId(request), parts, publish),
      );
      const Location = `http://${request.headers.host}${request.path}`;
      return xmlAnswer('CompleteMultipartUploadResult', { Location, ...objectOf(request), ETag });
    },
    'DELETE object uploadId': async (request) => {
      await uploads.abort(uploadId(request));
      return { status: 204 };
    },
  };
}

const objectOf = ({ bucket, key }: StoreRequest) => ({ Bucket: bucket, Key: key });

/** A body of up to this many bytes is read into memory. */
const SMALL_BYTES = 1_000_000;

async function bodyOf({ headers, body }: StoreRequest): Promise<Buffer | Bytes> {
  const isSmall = Number(headers['content-length'] ?? Number.NaN) <= SMALL_BYTES;
  return isSmall ? buffer(body) : body;
}

const KEPT_HEADERS =
  /^(?:cache-control|content-(?:disposition|encoding|language|type)|expires|x-amz-meta-.*)$/;

/** The metadata that S3 stores with an object: some of the request's headers. */
function metadataOf({ headers }: StoreRequest): Metadata {
  const entries = Object.entries(headers).filter(([name]) => KEPT_HEADERS.test(name));
  return {
    'content-type': 'binary/octet-stream',
    ...Object.fromEntries(entries.map(([name, value]) => [name, String(value)])),
  };
}

/** The parts that a CompleteMultipartUpload names. S3 ignores quotes around their entity tags. */
function partsOf(document: string) {
  const element = (part: string, name: string) =>
    new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(part)?.[1] ?? '';
  const parts = [...document.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
    number: Number(element(part, 'PartNumber')),
    etag: element(part, 'ETag').replaceAll(/"|&quot;|&#34;/g, ''),
  }));
  if (parts.length > 0) return parts;
  throw new S3Error(
    'MalformedXML',
    'The XML you provided was not well-formed or did not validate against our published schema.',
  );
}

/**
 * The conditional writes under way. If several write one object, the first to finish wins and the others get 412. A
 * DELETE that succeeds before a conditional write finishes makes that write a conflict (409). See
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html.
 */
class ConditionalWrites {
  /** For each write, its object's key, or undefined if the object was deleted meanwhile. */
  readonly #underWay = new Set<{ key: string | undefined }>();

  /** Runs `write` if the request's condition holds. `write` gets the function that puts the finished file in its place. */
  async run<T>(request: StoreRequest, write: (publish: Publish) => Promise<T>): Promise<T> {
    const publish = conditionalPublish(request);
    if (publish === renameSync) return write(publish);
    const own: { key: string | undefined } = { key: request.key };
    this.#underWay.add(own);
    try {
      return await write((from, to) => {
        if (own.key === undefined) throw conditionalRequestConflict();
        publish(from, to);
      });
    } finally {
      this.#underWay.delete(own);
    }
  }

  objectDeleted(key: string): void {
    for (const write of this.#underWay) if (write.key === key) write.key = undefined;
  }
}

/**
 * How a write is published. With `If-None-Match: *` it only creates, with `If-Match: <ETag>` it only replaces that
 * version, and without both it creates or replaces. The condition is checked at the moment of publishing, so it also
 * sees an object that another writer has just made.
 */
function conditionalPublish({ headers }: StoreRequest): Publish {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match) return replaceOnly(match);
  if (noneMatch === '*') return createOnly;
  if (!noneMatch) return renameSync;
  throw new S3Error('NotImplemented', 'A header you provided implies functionality that is not implemented');
}

const refused = (condition: string) =>
  new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });

const createOnly: Publish = (from, to) => {
  try {
    linkSync(from, to);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? refused('If-None-Match') : error;
  }
};

/** The check and the rename are synchronous: of several writes with the same ETag, only the first succeeds. */
const replaceOnly =
  (etag: string): Publish =>
  (from, to) => {
    const file = openStoredFile(to);
    file?.close();
    if (!file) throw noSuchKey();
    if (file.metadata['etag'] !== etag) throw refused('If-Match');
    renameSync(from, to);
  };

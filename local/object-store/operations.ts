import { renameSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { conditionalPublish, WritesInFlight } from './conditional-write.ts';
import { DirectoryBucket } from './directory-bucket.ts';
import { type Listable, listObjects } from './list-objects.ts';
import { MultipartUploads } from './multipart-uploads.ts';
import { readObject } from './read-object.ts';
import { S3Error } from './s3-error.ts';
import { xmlDocument, xmlText } from './s3-text.ts';
import { parameterOf, type StoreAnswer, type StoreRequest } from './store-request.ts';
import type { Bytes, Metadata, ObjectFiles, Publish, StoredFile } from './stored-file.ts';

export type Operation = (request: StoreRequest) => StoreAnswer | Promise<StoreAnswer>;

export const LISTING = 'GET bucket list-type';
const PUT = 'PUT object';
const COMPLETE_UPLOAD = 'POST object uploadId';

/** The operations that create an object. */
export const CREATES_OBJECT: readonly string[] = [PUT, COMPLETE_UPLOAD];

// Query parameters that do not change the operation. Any other parameter may name a subresource: a DELETE with
// `?tagging` must not delete the object.
const PLAIN_PARAMETERS =
  /^(?:x-amz-.*|x-id|response-.*|prefix|delimiter|max-keys|start-after|continuation-token|encoding-type|fetch-owner)$/i;

/**
 * The name of a request's operation, from its method, target and subresources: `GET object`, `POST object uploads`, …
 */
export function operationName({ method, key, parameters, headers }: StoreRequest): string {
  const subresources = new Set(
    parameters.map(([name]) => name).filter((name) => !PLAIN_PARAMETERS.test(name)),
  );
  const copy = 'x-amz-copy-source' in headers ? ['copy'] : [];
  return [method, key ? 'object' : 'bucket', ...[...subresources].sort(), ...copy].join(' ');
}

/** A bucket that can be read. */
interface Readable extends Listable {
  open(key: string): StoredFile | undefined;
}

/** The operations in a bucket that shows a directory, by {@link operationName}. */
export const readingOperations = (directory: string) => reading(new DirectoryBucket(directory));

const reading = (bucket: Readable): Readonly<Record<string, Operation>> => ({
  'HEAD bucket': () => ({ status: 200 }),
  [LISTING]: (request) => listObjects(request, bucket),
  'HEAD object': (request) => readObject(request, bucket.open(request.key)),
  'GET object': (request) => readObject(request, bucket.open(request.key)),
});

/**
 * The operations in a bucket that the store writes itself, by {@link operationName}. The rest of S3 is not
 * implemented.
 */
export function operations(objects: ObjectFiles): Readonly<Record<string, Operation>> {
  const uploads = new MultipartUploads(objects);
  const inFlight = new WritesInFlight();

  /** Writes if the request's condition holds. */
  const conditionally = (
    request: StoreRequest,
    write: (publish: Publish) => Promise<string>,
  ): Promise<string> => {
    const publish = conditionalPublish(request);
    return publish === renameSync ? write(publish) : inFlight.run(request.key, publish, write);
  };
  const uploadId = (request: StoreRequest) => parameterOf(request, 'uploadId') ?? '';

  return {
    ...reading(objects),
    [PUT]: async (request) => {
      const etag = await conditionally(request, async (publish) =>
        objects.write(request.key, { bytes: await bodyOf(request), metadata: metadataOf(request), publish }),
      );
      return { status: 200, headers: { etag } };
    },
    'DELETE object': ({ key }) => {
      objects.delete(key);
      inFlight.objectDeleted(key);
      return { status: 204 };
    },
    'POST object uploads': async (request) => {
      const id = await uploads.start(request.key, metadataOf(request));
      return xmlAnswer('InitiateMultipartUploadResult', { ...objectOf(request), UploadId: id });
    },
    'PUT object partNumber uploadId': async (request) => {
      const partNumber = parameterOf(request, 'partNumber') ?? '';
      return {
        status: 200,
        headers: { etag: await uploads.putPart(uploadId(request), partNumber, await bodyOf(request)) },
      };
    },
    [COMPLETE_UPLOAD]: async (request) => {
      const parts = partsOf(await text(request.body));
      const etag = await conditionally(request, (publish) =>
        uploads.complete(uploadId(request), parts, publish),
      );
      const Location = `http://${request.headers.host}${request.path}`;
      return xmlAnswer('CompleteMultipartUploadResult', { Location, ...objectOf(request), ETag: etag });
    },
    'DELETE object uploadId': async (request) => {
      await uploads.abort(uploadId(request));
      return { status: 204 };
    },
  };
}

/** A body of up to this many bytes is read into memory. */
const SMALL_BYTES = 1_000_000;

async function bodyOf({ headers, body }: StoreRequest): Promise<Buffer | Bytes> {
  if (!(Number(headers['content-length'] ?? Number.NaN) <= SMALL_BYTES)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const KEPT_HEADERS =
  /^(?:cache-control|content-(?:disposition|encoding|language|type)|expires|x-amz-meta-.*)$/;

/** The metadata that S3 stores with an object: some of the request's headers. */
const metadataOf = ({ headers }: StoreRequest): Metadata => ({
  'content-type': 'binary/octet-stream',
  ...Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => KEPT_HEADERS.test(name))
      .map(([name, value]) => [name, String(value)]),
  ),
});

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

const objectOf = ({ bucket, key }: StoreRequest) => ({ Bucket: bucket, Key: key });

const xmlAnswer = (root: string, members: Readonly<Record<string, string>>): StoreAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: xmlDocument(
    `<${root}>${Object.entries(members)
      .map(([name, value]) => `<${name}>${xmlText(value)}</${name}>`)
      .join('')}</${root}>`,
  ),
});

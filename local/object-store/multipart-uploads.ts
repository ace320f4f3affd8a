import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import S3Object from '@20minutes/s3rver/lib/models/object.js';
import type { ObjectFiles } from './object-files.ts';
import { type Bytes, openStoredFile, type Written, writeStoredFile } from './stored-file.ts';

// S3's limits: parts are numbered from 1 to 10,000, and all but the last have at least 5 MiB.
const PART_NUMBER = /^([1-9]\d{0,3}|10000)$/;
const MIN_PART_BYTES = 5 * 2 ** 20;

interface Part {
  readonly number: number;
  readonly etag: string;
}

/** The multipart uploads under way, as s3rver's controllers read and write them: a directory of parts each. */
export class MultipartUploads {
  readonly #directory: string;
  readonly #objects: ObjectFiles;

  constructor(directory: string, objects: ObjectFiles) {
    this.#directory = directory;
    this.#objects = objects;
  }

  async initiateUpload(bucket: string, key: string, uploadId: string, headers: object): Promise<void> {
    const upload = join(this.#directory, bucket, 'uploads', uploadId);
    await mkdir(upload, { recursive: true });
    const { metadata } = new S3Object(bucket, key, null, headers);
    await writeFile(join(upload, 'object.json'), JSON.stringify({ key, metadata }));
  }

  async putPart(bucket: string, uploadId: string, partNumber: string, bytes: Bytes): Promise<Written> {
    if (!PART_NUMBER.test(partNumber)) {
      throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
        ArgumentName: 'partNumber',
        ArgumentValue: partNumber,
      });
    }
    const upload = this.#find(bucket, uploadId);
    return writeStoredFile(upload, join(upload, partNumber), { bytes, metadata: {}, publish: rename });
  }

  /** Makes the object of its parts, which are read one after the other. */
  async putObjectMultipart(bucket: string, uploadId: string, parts: readonly Part[]): Promise<Written> {
    const upload = this.#find(bucket, uploadId);
    if (parts.some(({ number }, index) => number <= (parts[index - 1]?.number ?? 0))) {
      throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order.');
    }
    const { key, metadata } = JSON.parse(await readFile(join(upload, 'object.json'), 'utf8'));
    // As in S3, the entity tag of such an object is not the MD5 of its bytes; its suffix shows that.
    const digest = createHash('md5')
      .update(parts.map(({ etag }) => etag).join(''), 'hex')
      .digest('hex');
    const object = new S3Object(bucket, key, bytesOf(upload, parts), metadata);
    const written = await this.#objects.putObject(object, `${digest}-${parts.length}`);
    await rm(upload, { recursive: true, force: true });
    return written;
  }

  /** Removes the upload and its parts; an object that already has the key stays. */
  async abortUpload(bucket: string, uploadId: string): Promise<void> {
    // Parts that are still arriving may put something into the directory while it is being removed.
    await rm(this.#find(bucket, uploadId), { recursive: true, force: true, maxRetries: 3 });
  }

  #find(bucket: string, uploadId: string): string {
    const upload = join(this.#directory, bucket, 'uploads', uploadId);
    // s3rver's ids are such; anything else from outside must not become part of a path.
    if (/^[0-9a-f]{32}$/.test(uploadId) && existsSync(upload)) return upload;
    throw new S3Error('NoSuchUpload', 'The specified upload does not exist.', { UploadId: uploadId });
  }
}

async function* bytesOf(upload: string, parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const [index, part] of parts.entries()) {
    const file = await openStoredFile(join(upload, String(part.number)));
    if (file?.metadata['etag'] !== `"${part.etag}"`) {
      await file?.close();
      throw new S3Error('InvalidPart', 'One or more of the specified parts could not be found.', {
        PartNumber: part.number,
      });
    }
    const bytes = await file.read(0, file.size - 1);
    if (file.size < MIN_PART_BYTES && index < parts.length - 1) {
      bytes.destroy();
      throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size');
    }
    yield* bytes;
  }
}

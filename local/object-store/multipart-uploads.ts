import { hash, randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Metadata } from './read-bucket.ts';
import { invalidArgument, S3Error } from './s3-protocol.ts';
import {
  type Content,
  type ObjectFiles,
  openStoredFile,
  type Publish,
  writeStoredFile,
} from './stored-file.ts';

// S3's limits: parts are numbered from 1 to 10,000, and all but the last have at least 5 MiB.
const PART_NUMBER = /^([1-9]\d{0,3}|10000)$/;
const MIN_PART_BYTES = 5 * 2 ** 20;

interface Part {
  readonly number: number;
  readonly etag: string;
}

/** The multipart uploads under way in a bucket. Each has a directory for its parts. */
export class MultipartUploads {
  readonly #objects: ObjectFiles;

  constructor(objects: ObjectFiles) {
    this.#objects = objects;
  }

  /** Resolves to the upload's id. */
  async start(key: string, metadata: Metadata): Promise<string> {
    const id = randomBytes(16).toString('hex');
    const upload = join(this.#objects.uploads, id);
    await mkdir(upload, { recursive: true });
    await writeFile(join(upload, 'object.json'), JSON.stringify({ key, metadata }));
    return id;
  }

  /** Resolves to the part's entity tag. */
  async putPart(id: string, partNumber: string, bytes: Content['bytes']): Promise<string> {
    if (!PART_NUMBER.test(partNumber))
      throw invalidArgument(
        'Part number must be an integer between 1 and 10000, inclusive',
        'partNumber',
        partNumber,
      );
    const upload = this.#find(id);
    return writeStoredFile(upload, join(upload, partNumber), { bytes, metadata: {}, publish: renameSync });
  }

  /** Makes the object from the upload's parts. Reads them one after the other. Resolves to the object's entity tag. */
  async complete(id: string, parts: readonly Part[], publish: Publish): Promise<string> {
    const upload = this.#find(id);
    if (parts.some(({ number }, index) => number <= (parts[index - 1]?.number ?? 0)))
      throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order.');
    const { key, metadata } = JSON.parse(await readFile(join(upload, 'object.json'), 'utf8'));
    // As in S3, the entity tag of such an object is not the MD5 of its bytes; its suffix shows that.
    const tags = parts.map(({ etag }) => etag).join('');
    const etag = `${hash('md5', Buffer.from(tags, 'hex'))}-${parts.length}`;
    const bytes = bytesOf(upload, parts);
    const written = await this.#objects.write(key, { bytes, metadata, etag, publish });
    await rm(upload, { recursive: true, force: true });
    return written;
  }

  /** Removes the upload and its parts. An object that already has the key stays. */
  async abort(id: string): Promise<void> {
    // A part that is still arriving may write into the directory while it is being removed.
    await rm(this.#find(id), { recursive: true, force: true, maxRetries: 3 });
  }

  #find(id: string): string {
    const upload = join(this.#objects.uploads, id);
    // The id comes from the client. Only a valid id may become part of a path.
    if (/^[0-9a-f]{32}$/.test(id) && existsSync(upload)) return upload;
    throw new S3Error('NoSuchUpload', 'The specified upload does not exist.', { UploadId: id });
  }
}

async function* bytesOf(upload: string, parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const [index, part] of parts.entries()) {
    const file = openStoredFile(join(upload, String(part.number)));
    const isSame = file?.metadata['etag'] === `"${part.etag}"`;
    const isLarge = index === parts.length - 1 || Number(file?.size) >= MIN_PART_BYTES;
    if (!isSame || !isLarge) file?.close();
    if (!isSame)
      throw new S3Error('InvalidPart', 'One or more of the specified parts could not be found.', {
        PartNumber: part.number,
      });
    if (!isLarge)
      throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size');
    const bytes = file.read(0, file.size - 1);
    if (bytes instanceof Readable) yield* bytes;
    else yield bytes;
  }
}

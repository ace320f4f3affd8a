import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { tellFault } from '../../../lake-check/lake-facts.ts';
import { listFolder } from '../../../lake-check/lake-source.ts';
import { isHidden } from '../../../lake-check/layout.ts';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { readWholeFile } from '../../../lake-check/verify-pages.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { isBucket } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-lake.ts';
import { folderColumns, refuseDoubledNames, type SourceColumn } from './column-names.ts';
import { csvFault, describeCsv } from './csv-file.ts';
import { HEAD_BYTES, isGzip, isParquet } from './file-format.ts';

/** A file to convert. */
export interface InputFile {
  /** The file's path or URL as the operator knows it. */
  readonly name: string;
  /** SQL that reads the file: a table function. */
  readonly reader: string;
  readonly columns: readonly SourceColumn[];
  readonly rows: number;
  readonly bytes: number;
  readonly isText: boolean;
  /** A Parquet file's path as SQL, for a query that reads several files with the same columns. */
  readonly parquet?: string;
}

/** SQL that reads Parquet files with the same columns. */
export const parquetReader = (paths: readonly string[]): string =>
  `read_parquet([${paths.join(', ')}], hive_partitioning = false)`;

interface FoundFile {
  readonly name: string;
  readonly path: string;
  /** The reason why the file can't be read, if it can't. */
  readonly unreadable?: string;
}

export interface InputOptions {
  /** The separator of CSV files, if the operator says it. */
  readonly separator?: string;
  /** Whether files with the same bytes are read, each of them. */
  readonly sameBytesTwice: boolean;
}

interface Inputs {
  readonly files: readonly InputFile[];
  /** Why the other files can't be read. */
  readonly faults: readonly string[];
  /** The names of files that are read under another name, in words. */
  readonly once: readonly string[];
}

/**
 * Finds the files that the operator named, also those in folders and buckets, each once, whatever names it has. Throws
 * an OperatorFault if there is no file at all.
 *
 * @param directory where the files of buckets are copied to
 */
export async function openInputs(
  inputs: readonly string[],
  directory: string,
  { separator, sameBytesTwice }: InputOptions,
): Promise<Inputs> {
  const named = (await Promise.all(inputs.map((input) => find(input, directory)))).flat();
  if (named.length === 0) throw new OperatorFault(`There are no files in ${inputs.join(', ')}`);
  const found = new Map<string, FoundFile>();
  const once: string[] = [];
  for (const file of named) {
    const identity = await identityOf(file);
    const known = found.get(identity);
    if (!known) found.set(identity, file);
    else if (placeOf(known.name) !== placeOf(file.name))
      once.push(`read once: ${file.name} is the same file as ${known.name}`);
  }
  const faults: string[] = [];
  const files: (InputFile & { readonly path: string })[] = [];
  for (const file of found.values())
    await describe(file, separator).then(
      (input) => files.push({ ...input, path: file.path }),
      (error: Error) => faults.push(`${file.name} can't be read: ${csvFault(error.message)}`),
    );
  if (!sameBytesTwice) faults.push(...(await alike(files)));
  return { files, faults, once };
}

const placeOf = (name: string): string => (isBucket(name) ? name : resolve(name));

/** Equal for all names of one file. */
async function identityOf({ name, path, unreadable }: FoundFile): Promise<string> {
  if (isBucket(name) || unreadable) return placeOf(name);
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev} ${ino}`;
}

/** The faults of files that hold the same bytes, and so the same records. */
async function alike(files: readonly (InputFile & { readonly path: string })[]): Promise<string[]> {
  const faults: string[] = [];
  const known = new Map<string, string>();
  for (const same of Map.groupBy(files, ({ bytes }) => bytes).values())
    for (const { name, path, rows, columns } of same.length > 1 ? same : []) {
      if (rows === 0) continue;
      // Columns of folders' names are part of the records.
      const hash = createHash('sha256').update(JSON.stringify(columns));
      await pipeline(createReadStream(path), hash);
      const digest = hash.digest('hex');
      const other = known.get(digest);
      if (other !== undefined)
        faults.push(
          `${name}: it holds the same bytes as ${other}, so that its records would count twice. Leave it out; if they are other records, say --same-bytes-twice`,
        );
      known.set(digest, other ?? name);
    }
  return faults;
}

/** Whether the engines leave out a file. */
const isLeftOut = (path: string): boolean => path.split('/').some(isHidden);

async function find(input: string, directory: string): Promise<FoundFile[]> {
  if (isBucket(input)) {
    const source = bucketSource(input, directory);
    const listed = (await source.list()).filter(({ path, size }) => size > 0 && !isLeftOut(path));
    // The copies stay until the directory is removed.
    const { files } = await source.filesOf(listed);
    return files.map(({ id, path }) => ({ name: `${input.replace(/\/$/, '')}/${id}`, path }));
  }
  const found = await stat(input).catch(({ code }: NodeJS.ErrnoException): Stats => {
    throw new OperatorFault(
      code === 'ENOENT' ? `${input} does not exist` : `${input} can't be read (${code})`,
    );
  });
  if (!found.isDirectory())
    return [
      {
        name: input,
        path: input,
        ...(!found.isFile() && { unreadable: 'it is no file, but a pipe, a socket or a device' }),
      },
    ];
  const listed = await listFolder(input);
  return listed
    .filter(({ path, size, unreadable }) => (size > 0 || unreadable) && !isLeftOut(path))
    .map(({ path, unreadable }) => ({
      name: join(input, path),
      path: join(input, path),
      ...(unreadable && { unreadable }),
    }));
}

async function describe(found: FoundFile, separator: string | undefined): Promise<InputFile> {
  const { name, path, unreadable } = found;
  if (unreadable) throw new Error(unreadable);
  const head = await headOf(path);
  const { size: bytes } = await stat(path);
  const text = isParquet(head)
    ? undefined
    : await describeCsv({ name, path, isGzip: isGzip(head) }, separator);
  const file = text ?? (await describeParquet(path));
  const folders = folderColumns(
    name,
    file.columns.map((column) => column.name),
  );
  return { ...file, name, bytes, columns: [...file.columns, ...folders], isText: text !== undefined };
}

/** A Parquet file is described by its own footer, and its pages must be as they were written. */
async function describeParquet(
  path: string,
): Promise<Pick<InputFile, 'reader' | 'columns' | 'rows' | 'parquet'>> {
  const footer = await readWholeFile(path);
  if ('found' in footer) throw new Error(tellFault(footer));
  refuseDoubledNames(footer.names);
  const parquet = quoteText(escapeGlob(path));
  const columns = footer.names.map((name) => ({
    name,
    type: footer.types.get(name.toLowerCase()) ?? '',
    sql: quoteName(name),
  }));
  return { reader: parquetReader([parquet]), columns, rows: footer.rows, parquet };
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

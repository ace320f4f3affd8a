import { open, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { tellFault } from '../../../lake-check/lake-facts.ts';
import { isHidden } from '../../../lake-check/layout.ts';
import { listFolder } from '../../../lake-check/list-folder.ts';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { readWholeFile } from '../../../lake-check/verify-pages.ts';
import { quoteText } from '../../../lib/report/quote-sql.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { isBucket } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-source.ts';
import { csvFault } from './csv-fault.ts';
import { csvReader, refuseUnevenLines } from './csv-reader.ts';
import { mayBeRenamed, refuseDoubledNames } from './doubled-names.ts';
import { withFolderColumns } from './folder-columns.ts';
import { refuseDamagedGzip } from './refuse-damaged-gzip.ts';

/** A file to convert. */
export interface InputFile {
  /** The file's path or URL as the operator knows it. */
  readonly name: string;
  /** SQL that reads the file: a table function, or a SELECT in brackets. */
  readonly reader: string;
  /** The name of each column's type in the table of types, by the column's name. Every column of a CSV file is text. */
  readonly types: ReadonlyMap<string, string>;
  readonly bytes: number;
  readonly isText: boolean;
  /**
   * A Parquet file's path as SQL, for a query that reads several files of equal types. Undefined for a file that must
   * be read alone, such as a CSV file, whose dialect DuckDB detects.
   */
  readonly parquet?: string;
}

/** SQL that reads Parquet files of equal types. */
export const parquetReader = (paths: readonly string[]): string =>
  `read_parquet([${paths.join(', ')}], hive_partitioning = false)`;

interface FoundFile {
  readonly name: string;
  readonly path: string;
  /** The reason why the file can't be read, if it can't. */
  readonly unreadable?: string;
}

/**
 * Finds the files that the operator named, also those in folders and buckets. Resolves to the files that can be read,
 * and to the faults of the others. Throws an OperatorFault if there is no file at all.
 *
 * @param directory where the files of buckets are copied to
 */
export async function openInputs(
  connection: DuckDBConnection,
  inputs: readonly string[],
  directory: string,
): Promise<{ readonly files: readonly InputFile[]; readonly faults: readonly string[] }> {
  const named = (await Promise.all(inputs.map((input) => find(input, directory)))).flat();
  // A file that is named twice, for example by its own path and by its folder's, is read once.
  const found = [...new Map(named.map((file) => [placeOf(file.name), file])).values()];
  if (found.length === 0) throw new OperatorFault(`There are no files in ${inputs.join(', ')}`);
  const faults: string[] = [];
  const files: InputFile[] = [];
  for (const file of found)
    await describe(connection, file).then(
      (input) => files.push(input),
      (error: Error) => faults.push(`${file.name} can't be read: ${csvFault(error.message)}`),
    );
  return { files, faults };
}

const placeOf = (name: string): string => (isBucket(name) ? name : resolve(name));

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
  const found = await stat(input).catch(() => {
    throw new OperatorFault(`${input} does not exist`);
  });
  if (!found.isDirectory()) return [{ name: input, path: input }];
  const listed = await listFolder(input);
  return listed
    .filter(({ path, size, unreadable }) => (size > 0 || unreadable) && !isLeftOut(path))
    .map(({ path, unreadable }) => ({
      name: join(input, path),
      path: join(input, path),
      ...(unreadable && { unreadable }),
    }));
}

async function describe(connection: DuckDBConnection, found: FoundFile): Promise<InputFile> {
  const { name, path, unreadable } = found;
  if (unreadable) throw new Error(unreadable);
  return (await isParquet(path)) ? describeParquet(found) : describeCsv(connection, { name, path });
}

/** A Parquet file is described by its own footer, and its pages must be as they were written. */
async function describeParquet({ name, path }: FoundFile): Promise<InputFile> {
  const footer = await readWholeFile(path);
  if ('found' in footer) throw new Error(tellFault(footer));
  const types = new Map(footer.names.map((column) => [column, footer.types.get(column.toLowerCase()) ?? '']));
  refuseDoubledNames(footer.names);
  const file = quoteText(escapeGlob(path));
  const reader = parquetReader([file]);
  const columns = withFolderColumns(name, { reader, types });
  // A file with columns from its folders' names is read alone, because other files lie in other folders.
  const isAlone = columns.reader !== reader;
  const { size: bytes } = await stat(path);
  return { name, ...columns, bytes, isText: false, ...(!isAlone && { parquet: file }) };
}

async function describeCsv(connection: DuckDBConnection, { name, path }: FoundFile): Promise<InputFile> {
  const file = quoteText(escapeGlob(path));
  const isGzip = /\.gz$/i.test(basename(name));
  if (isGzip) await refuseDamagedGzip(path);
  const reader = csvReader(file, isGzip);
  const rows = (await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${reader}`)).getRowsJS();
  const types = new Map((rows as string[][]).map(([column = '', type = '']) => [column, type]));
  await refuseUnevenLines(connection, [...types.keys()], reader);
  if (mayBeRenamed([...types.keys()]))
    refuseDoubledNames(await firstLine(connection, csvReader(file, isGzip, false)));
  const { size: bytes } = await stat(path);
  return { name, ...withFolderColumns(name, { reader, types }), bytes, isText: true };
}

/** The header of a CSV file, read as values. DuckDB changes names that occur twice, but never values. */
async function firstLine(connection: DuckDBConnection, withoutHeader: string): Promise<string[]> {
  const line = await connection.runAndReadAll(`SELECT * FROM ${withoutHeader} LIMIT 1`);
  return (line.getRowsJS()[0] ?? []).map(String);
}

async function isParquet(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    // A file whose footer is encrypted begins with PARE.
    return bytesRead === 4 && /^PAR[1E]$/.test(buffer.toString('latin1'));
  } finally {
    await file.close();
  }
}

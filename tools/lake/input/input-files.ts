import { open, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { listFolder } from '../../../lake-check/list-folder.ts';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { quoteText } from '../../../lib/report/quote-sql.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { isBucket } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-source.ts';
import { INT96 } from '../values/exact-value.ts';
import { csvFault } from './csv-fault.ts';
import { csvReader, refuseUnevenLines } from './csv-reader.ts';
import { doubledNames } from './doubled-names.ts';
import { withFolderColumns } from './folder-columns.ts';
import { refuseDamagedGzip } from './refuse-damaged-gzip.ts';

/** A file to convert. */
export interface InputFile {
  /** The file's path or URL as the operator knows it. */
  readonly name: string;
  /** SQL that reads the file: a table function, or a SELECT in brackets. */
  readonly reader: string;
  /** DuckDB's type of each column, by its name in the file. Every column of a CSV file is text. */
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

/** Whether a name in the path begins with `_` or `.`. The engines leave such files out. */
const isHidden = (path: string): boolean => path.split('/').some((part) => /^[._]/.test(part));

async function find(input: string, directory: string): Promise<FoundFile[]> {
  if (isBucket(input)) {
    const source = bucketSource(input, directory);
    const listed = (await source.list()).filter(({ path, size }) => size > 0 && !isHidden(path));
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
    .filter(({ path, size, unreadable }) => (size > 0 || unreadable) && !isHidden(path))
    .map(({ path, unreadable }) => ({
      name: join(input, path),
      path: join(input, path),
      ...(unreadable && { unreadable }),
    }));
}

async function describe(
  connection: DuckDBConnection,
  { name, path, unreadable }: FoundFile,
): Promise<InputFile> {
  if (unreadable) throw new Error(unreadable);
  const file = quoteText(escapeGlob(path));
  const isText = !(await isParquet(path));
  const isGzip = /\.gz$/i.test(basename(name));
  if (isText && isGzip) await refuseDamagedGzip(path);
  const reader = isText ? csvReader(file, isGzip) : parquetReader([file]);
  const rows = (await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${reader}`)).getRowsJS();
  const types = new Map((rows as string[][]).map(([column = '', type = '']) => [column, type]));
  if (isText) await refuseUnevenLines(connection, [...types.keys()], reader);
  else
    for (const column of await schemaNames(connection, file, `type = '${INT96}'`)) types.set(column, INT96);
  const [doubled] = await doubledNames([...types.keys()], () =>
    isText ? firstLine(connection, csvReader(file, isGzip, false)) : schemaNames(connection, file),
  );
  if (doubled) throw new Error(`its columns ${doubled} have one name. Leave one out, or name it otherwise`);
  const { size: bytes } = await stat(path);
  const columns = withFolderColumns(name, { reader, types });
  // A file with columns from its folders' names is read alone, because other files lie in other folders.
  const isAlone = isText || columns.reader !== reader;
  return { name, ...columns, bytes, isText, ...(!isAlone && { parquet: file }) };
}

/** The header of a CSV file, read as values. DuckDB changes names that occur twice, but never values. */
async function firstLine(connection: DuckDBConnection, withoutHeader: string): Promise<string[]> {
  const line = await connection.runAndReadAll(`SELECT * FROM ${withoutHeader} LIMIT 1`);
  return (line.getRowsJS()[0] ?? []).map(String);
}

/** The names in a Parquet file's schema, including those of a struct's parts. */
async function schemaNames(connection: DuckDBConnection, file: string, where = 'true'): Promise<string[]> {
  const schema = await connection.runAndReadAll(`SELECT name FROM parquet_schema(${file}) WHERE ${where}`);
  return (schema.getRowsJS() as string[][]).flat();
}

async function isParquet(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.toString('latin1') === 'PAR1';
  } finally {
    await file.close();
  }
}

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import papaparse from 'papaparse';
import { CHUNK_BYTES, slicesOf } from './engine-file.ts';

/** The engine's file of a report, and for each column whether the report quotes it. */
export interface EngineFile {
  readonly file: Buffer;
  readonly isQuoted: readonly boolean[];
}

export type Take = (chunk: Uint8Array) => void;

/** Marks a number that csv-stringify must not quote. The library's option for single values would halve the speed. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export async function csvLibrary({ file, isQuoted }: EngineFile, take: Take) {
  const on_record = (record: string[]): unknown => {
    const typed: unknown[] = record;
    for (const [index, value] of record.entries())
      if (value === '') typed[index] = null;
      else if (!isQuoted[index]) typed[index] = new Digits(value);
    return typed;
  };
  await pipeline(
    Readable.from(slicesOf(file), { objectMode: false }),
    parse({ from_line: 2, on_record: on_record as (record: string[]) => string[] }),
    stringify({ quoted_string: true, cast: { object: (value) => (value as unknown as Digits).text } }),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) take(chunk);
    },
  );
}

/** Papa Parse takes texts, so it gets chunks of whole rows. The first column is a time: each row begins with `"2`. */
export function papaParse({ file, isQuoted }: EngineFile, take: Take) {
  const quotes = (value: unknown, column: number) => value !== '' && isQuoted[column] === true;
  for (let at = file.indexOf('\n"2') + 1, end = at; at < file.length; at = end) {
    end = at + CHUNK_BYTES < file.length ? file.lastIndexOf('\n"2', at + CHUNK_BYTES) + 1 : file.length;
    const { data } = papaparse.parse<string[]>(file.toString('utf8', at, end), { skipEmptyLines: true });
    take(Buffer.from(`${papaparse.unparse(data, { quotes, newline: '\n' })}\n`));
  }
}

/** DuckDB reads one file and writes another. Both are in the page cache. */
export async function openRecopy({ file, isQuoted }: EngineFile) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const [from, to] = [join(directory, 'engine.csv'), join(directory, 'report.csv')];
  await writeFile(from, file);
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const names = file.toString('utf8', 0, file.indexOf('\n')).split(',');
  const quoted = names.filter((_, index) => isQuoted[index]);
  return {
    copy: () =>
      connection.run(
        `COPY (SELECT * FROM read_csv('${from}', header = true, all_varchar = true, delim = ',', quote = '"'))
         TO '${to}' (FORMAT csv, HEADER false, FORCE_QUOTE (${quoted.join(', ')}))`,
      ),
    read: () => readFile(to),
    async close() {
      connection.closeSync();
      instance.closeSync();
      await rm(directory, { recursive: true });
    },
  };
}

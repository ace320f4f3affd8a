import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CsvColumn } from '../lib/csv/retype-csv.ts';
import { fieldOf } from '../lib/report/catalogue.ts';
import { duckDbOn } from '../local/athena/duckdb-engine.ts';
import { type Question, sqlOf } from './questions.ts';
import { sampleEvents } from './report-stack.ts';

/** The most bytes that a socket hands on at a time. */
export const CHUNK_BYTES = 65_536;

/** The stack's engine without the service, to be closed by `await using`. */
export async function openEngine(eventsDirectory: string) {
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'bench-'));
  const engine = await duckDbOn(eventsDirectory)({ database: 'events', scratchDirectory });
  const { signal } = new AbortController();
  return {
    /** Resolves to the path of the report as Athena writes it. */
    run: async (question: Question) =>
      (await engine.run({ id: 'report', sql: sqlOf(question), parameters: [], signal })).csvPath,
    async [Symbol.asyncDispose]() {
      engine.close();
      await rm(scratchDirectory, { recursive: true });
    },
  };
}

/** The engine's result file for a report over `publisherRecords` sample events. */
export async function engineFile(question: Question, publisherRecords: number): Promise<Buffer> {
  await using engine = await openEngine(await sampleEvents(publisherRecords));
  return readFile(await engine.run(question));
}

export const columnsOf = ({ report, fields }: Question): CsvColumn[] =>
  fields.map((name) => ({ name, type: fieldOf(report, name)?.type ?? 'string' }));

/** Gives the file in the chunks that a socket hands on. */
export function* slicesOf(file: Buffer) {
  for (let at = 0; at < file.length; at += CHUNK_BYTES) yield file.subarray(at, at + CHUNK_BYTES);
}

/** Gives the file in chunks, all in the same buffer, as a socket does: re-typing overwrites them. */
export async function* chunksOf(file: Buffer) {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < file.length; at += CHUNK_BYTES)
    yield chunk.subarray(0, file.copy(chunk, 0, at, at + CHUNK_BYTES));
}

/** A CSV file with its rows repeated until it has at least `bytes` bytes. */
export function repeated(file: Buffer, bytes: number): Buffer {
  const rows = file.subarray(file.indexOf('\n') + 1);
  const repeats = Math.ceil(bytes / rows.length);
  return Buffer.concat([file.subarray(0, -rows.length), ...Array.from({ length: repeats }, () => rows)]);
}

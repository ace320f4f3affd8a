import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDb } from '../local/athena/duckdb-engine.ts';
import { type Question, sqlOf } from './questions.ts';
import { sampleEvents } from './report-stack.ts';

/** The engine's result file for a report over `publisherRecords` sample events. */
export async function engineFile(question: Question, publisherRecords: number): Promise<Buffer> {
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'bench-'));
  const engine = await openDuckDb({
    eventsDirectory: await sampleEvents(publisherRecords),
    database: 'events',
    scratchDirectory,
  });
  const { csvPath } = await engine.run({
    id: 'report',
    sql: sqlOf(question),
    parameters: [],
    signal: new AbortController().signal,
  });
  const file = await readFile(csvPath);
  engine.close();
  await rm(scratchDirectory, { recursive: true });
  return file;
}

/** A CSV file with its rows repeated until it has at least `bytes` bytes. */
export function repeated(file: Buffer, bytes: number): Buffer {
  const rows = file.subarray(file.indexOf('\n') + 1);
  const repeats = Math.ceil(bytes / rows.length);
  return Buffer.concat([file.subarray(0, -rows.length), ...Array.from({ length: repeats }, () => rows)]);
}

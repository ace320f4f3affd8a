import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { QueryEngine } from '../athena/query-engine.ts';
import { QueryFailure } from '../athena/query-engine.ts';
import { QueryScanLimitExceeded } from '../athena/run-query.ts';
import type { Faults } from './faults.ts';

/** The text in which a fault's `match` must occur. */
export const queryText = (sql: string, parameters: readonly string[]): string =>
  [sql, ...parameters].join('\n');

/** Wraps an engine. Its queries are delayed, fail or get larger results, as the faults say. */
export const faultyQueries = <E extends QueryEngine>(engine: E, faults: Faults): E => ({
  ...engine,
  async run(query) {
    const struck = await faults.strike('query', queryText(query.sql, query.parameters), query.signal);
    for (const { fail } of struck) {
      if (fail === 'retryable') throw new QueryFailure('EXCEEDED_LOCAL_MEMORY_LIMIT', 'made to fail');
      if (fail === 'cut-off') throw new QueryScanLimitExceeded(0);
      if (fail === 'final') throw new QueryFailure('NOT_SUPPORTED', 'made to fail');
    }
    const outcome = await engine.run(query);
    for (const { resultBytes } of struck)
      if (resultBytes) await enlarge(outcome.csvPath, resultBytes, query.signal);
    return outcome;
  },
});

const BLOCK_BYTES = 1_000_000;

/** Repeats all rows equally often, until the file has at least `bytes` bytes. */
async function enlarge(csvPath: string, bytes: number, signal: AbortSignal): Promise<void> {
  const file = await readFile(csvPath);
  const headerBytes = file.indexOf('\n') + 1;
  const rows = file.subarray(headerBytes);
  if (rows.length === 0) return;
  const block = Buffer.alloc(Math.ceil(BLOCK_BYTES / rows.length) * rows.length, rows);
  const blocks = Math.ceil((bytes - headerBytes) / block.length);
  await pipeline(
    function* () {
      yield file.subarray(0, headerBytes);
      for (let written = 0; written < blocks; written++) yield block;
    },
    createWriteStream(csvPath),
    { signal },
  );
}

import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { QueryEngine } from '../athena/query-engine.ts';
import { QueryFailure } from '../athena/query-failure.ts';
import type { Faults } from './faults.ts';

/** What a fault's `match` is looked for in. */
export const queryText = (sql: string, parameters: readonly string[]): string =>
  [sql, ...parameters].join('\n');

/** An engine whose queries are as slow, as failing and as large as the faults have it. */
export const faultyQueries = <E extends QueryEngine>(engine: E, faults: Faults): E => ({
  ...engine,
  async run(query) {
    const struck = await faults.strike('query', queryText(query.sql, query.parameters), query.signal);
    for (const { fail } of struck) {
      if (fail === 'retryable') throw new QueryFailure('EXCEEDED_LOCAL_MEMORY_LIMIT', 'made to fail');
      if (fail === 'final') throw new QueryFailure('NOT_SUPPORTED', 'made to fail');
    }
    const outcome = await engine.run(query);
    for (const { resultBytes } of struck) if (resultBytes) await enlarge(outcome.csvPath, resultBytes);
    const isCutOff = struck.some(({ fail }) => fail === 'cut-off');
    return isCutOff ? { ...outcome, bytesScanned: Number.MAX_SAFE_INTEGER } : outcome;
  },
});

/** Repeats all rows until the file has at least so many bytes. */
async function enlarge(csvPath: string, bytes: number): Promise<void> {
  const { size } = await stat(csvPath);
  const headerBytes = (await readFile(csvPath)).indexOf('\n') + 1;
  const rounds = Math.ceil((bytes - headerBytes) / Math.max(1, size - headerBytes));
  const enlarged = `${csvPath}.enlarged`;
  await pipeline(async function* () {
    for (let round = 0; round < rounds; round++)
      yield* createReadStream(csvPath, { start: round === 0 ? 0 : headerBytes });
  }, createWriteStream(enlarged));
  await rename(enlarged, csvPath);
}

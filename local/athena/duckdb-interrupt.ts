import type { DuckDBConnection } from '@duckdb/node-api';

const INTERVAL_MS = 20;

/**
 * Once the signal is aborted, interrupts every statement of the connection, until the returned object is disposed of.
 * One interrupt is not enough: DuckDB forgets an interrupt that comes between two statements, or before a statement
 * has a thread.
 */
export function interruptOn(signal: AbortSignal, connection: DuckDBConnection): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer ??= setInterval(interrupt, INTERVAL_MS);
  };
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return {
    [Symbol.dispose]() {
      signal.removeEventListener('abort', interrupt);
      clearInterval(timer);
    },
  };
}

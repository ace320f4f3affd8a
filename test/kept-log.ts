import { afterEach } from 'vitest';
import type { Log } from '../local/gateway/lambda.ts';

const kept: string[] = [];

/**
 * Keeps what services log during a test, and adds it to the error if the test fails. With `LOGS=1`, everything is
 * printed at once instead.
 */
export const keptLog: Log = (text) => {
  if (process.env['LOGS']) process.stderr.write(text);
  else kept.push(text);
};

afterEach(({ task }) => {
  const [error] = task.result?.errors ?? [];
  if (error && kept.length > 0) error.message += `\nWhat the services logged:\n${kept.join('')}`;
  kept.length = 0;
});

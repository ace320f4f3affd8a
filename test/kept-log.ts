import { afterEach } from 'vitest';
import type { Log } from '../local/gateway/log.ts';

const kept: string[] = [];

/**
 * Keeps what services log during a test, and prints it if the test fails. With `LOGS=1`, everything is printed at once
 * instead.
 */
export const keptLog: Log = (text) => {
  if (process.env['LOGS']) process.stderr.write(text);
  else kept.push(text);
};

afterEach(({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(kept.join(''));
  kept.length = 0;
});

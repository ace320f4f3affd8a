import { afterEach } from 'vitest';
import type { Log } from '../local/gateway/log.ts';

const kept: string[] = [];

/**
 * Keeps what services log in the tests of a file. The log of a test is shown if the test fails, or at once with
 * `LOGS=1`.
 */
export const keptLog: Log = (text) => {
  if (process.env['LOGS']) process.stderr.write(text);
  else kept.push(text);
};

afterEach(({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(kept.join(''));
  kept.length = 0;
});

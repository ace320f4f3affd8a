import { afterEach } from 'vitest';
import type { Log } from '../local/gateway/log.ts';

const kept: string[] = [];

/** What services log in the tests of a file: shown with the test that fails, or at once by `LOGS=1`. */
export const keptLog: Log = (text) => {
  if (process.env['LOGS']) process.stderr.write(text);
  else kept.push(text);
};

afterEach(({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(kept.join(''));
  kept.length = 0;
});

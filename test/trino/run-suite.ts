/** `npm run test:trino`: runs the end-to-end suite and the corpus on a Trino server, which is downloaded once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LaneFault, tell } from '../lane-fault.ts';
import { installTrino } from './install-trino.ts';
import { startTrino } from './start-trino.ts';

const stop = new AbortController();

try {
  const home = await installTrino();
  // Signals are handled only from here on. Before, a signal that ends the installer must also end this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  await using server = await startTrino(home);
  stop.signal.throwIfAborted();
  const suite = spawn('vitest', ['run', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, TEST_TRINO_URL: server.url, SUITE: 'trino' },
  });
  stop.signal.addEventListener('abort', () => suite.kill());
  const [code] = await once(suite, 'exit');
  process.exitCode = code ?? 1;
} catch (error) {
  tell(stop.signal.aborted ? new LaneFault('The lane was stopped.') : error);
}

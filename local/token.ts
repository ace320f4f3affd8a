/** `npm run --silent token [-- CLIENT]`: prints an access token of the stack that `npm start` runs; of `house` by default. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accessToken } from './access-token.ts';
import { CLIENTS, HOUSE } from './clients.ts';
import type { Stack } from './stack.ts';

const [name = HOUSE.clientId] = process.argv.slice(2);
const home = process.env['LOCAL_DIR'] || join(import.meta.dirname, '..', '.local');

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const client =
  CLIENTS.find(({ clientId }) => clientId === name) ??
  fail(`There is no client ${name}. Known are: ${CLIENTS.map(({ clientId }) => clientId).join(', ')}.`);
const stack = JSON.parse(
  await readFile(join(home, 'stack.json'), 'utf8').catch(() =>
    fail('Nothing runs here. Run `npm start` first.'),
  ),
) as Pick<Stack, 'tokenUrl' | 'scope'>;
const token = await accessToken({ ...stack, ...client }).catch(() =>
  fail('The service does not answer. Run `npm start` again.'),
);
process.stdout.write(`${token}\n`);

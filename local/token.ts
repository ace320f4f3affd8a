/** `npm run --silent token [-- CLIENT]`: prints an access token of the stack that `npm start` runs; the first partner's by default. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accessToken } from './access-token.ts';
import type { Stack } from './stack.ts';

const [name] = process.argv.slice(2);
const home = process.env['LOCAL_DIR'] || join(import.meta.dirname, '..', '.local');

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const stack = JSON.parse(
  await readFile(join(home, 'stack.json'), 'utf8').catch(() =>
    fail('Nothing runs here. Run `npm start` first.'),
  ),
) as Pick<Stack, 'tokenUrl' | 'scope' | 'clients'>;
const client =
  stack.clients.find(({ clientId }) => name === undefined || clientId === name) ??
  fail(`There is no client ${name}. Known are: ${stack.clients.map(({ clientId }) => clientId).join(', ')}.`);
const token = await accessToken({ ...stack, ...client }).catch(() =>
  fail('The service does not answer. Run `npm start` again.'),
);
process.stdout.write(`${token}\n`);

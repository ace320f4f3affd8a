/** `npm run --silent token [-- CLIENT]`: prints a token of the running stack, by default the first partner's. */
import { accessToken } from './access-token.ts';
import { LOCAL_DIR, runningStack } from './stack-file.ts';

const [name] = process.argv.slice(2);
const port = process.env['PORT'];

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const stack =
  (await runningStack(LOCAL_DIR, port)) ??
  fail(
    (await runningStack(LOCAL_DIR))
      ? `Nothing runs at port ${port}. Unset PORT for the first that runs here.`
      : 'Nothing runs here. Run `npm start` first.',
  );
const client =
  stack.clients.find(({ clientId }) => name === undefined || clientId === name) ??
  fail(`There is no client ${name}. Known are: ${stack.clients.map(({ clientId }) => clientId).join(', ')}.`);
const token = await accessToken({ ...stack, ...client }).catch(() =>
  fail('The service gives no token. Run `npm start` again.'),
);
process.stdout.write(`${token}\n`);

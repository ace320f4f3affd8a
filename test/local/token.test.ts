import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { startIdentityProvider } from '../../local/identity-provider/identity-provider.ts';
import { thisProcess } from '../../local/run-folder.ts';
import { writeStackFile } from '../../local/stack-file.ts';
import { ownFolder } from '../own-folder.ts';
import { stackFacts } from './stack-facts.ts';

const run = promisify(execFile);
const home = await ownFolder();
const clients = ['house', 'publisher-one'].map((clientId) => ({ clientId, clientSecret: `${clientId}-x` }));
const provider = await startIdentityProvider({ clients });
afterAll(() => provider.close());
const scope = 'api://x/.default';
const known = [...clients, { clientId: 'refused', clientSecret: 'another' }];
await writeStackFile(home, { ...stackFacts, ...provider, scope, clients: known }, thisProcess('0'));

const token = async (parameters: string[], directory = home, port = '') => {
  const env = { PATH: process.env['PATH'], LOCAL_DIR: directory, PORT: port };
  return (await run(process.execPath, ['local/token.ts', ...parameters], { env })).stdout;
};
const claimsOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString());

describe('npm run token', () => {
  it('prints a token of the first client, or of the named client', async () => {
    expect(claimsOf(await token([]))).toMatchObject({ client_id: 'house', scope: 'api://x/.default' });
    expect(claimsOf(await token(['publisher-one']))).toMatchObject({ client_id: 'publisher-one' });
  });

  it.each([
    ['the client is unknown', ['publisher-ten'], home, 'There is no client publisher-ten. Known are: house,'],
    ['no stack is running', [], '/nowhere', 'Nothing runs here. Run `npm start` first.'],
    ['the endpoint refuses the client', ['refused'], home, 'The service gives no token. Run `npm start`'],
    ['no stack runs at the port', [], home, 'Nothing runs at port 8081. Unset PORT', '8081'],
  ])('prints an error message if %s', async (_, parameters, directory, message, port = '') => {
    await expect(token(parameters, directory, port)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});

import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInstaller } from '../clients/run-program.ts';
import { ownFolder } from '../own-folder.ts';
import { toolCache } from '../tool-cache.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCE = join(ROOT, 'connectors/mcp');
const PLACE = 'connectors/mcp';

/** The shell commands of the server's page. */
export async function printedCommands(): Promise<readonly string[]> {
  const page = await readFile(join(SOURCE, 'README.md'), 'utf8');
  return [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
}

/**
 * A folder with the server as a user has it: its sources are those of this tree, and its packages were installed by the
 * first command of its page, which runs again when the command or the lock file changes.
 */
export async function serverHome(): Promise<string> {
  const [install = ''] = await printedCommands();
  const lock = await readFile(join(SOURCE, 'package-lock.json'), 'utf8');
  const installed = await toolCache('mcp-server', [install, lock], async (directory) => {
    for (const file of ['package.json', 'package-lock.json'])
      await cp(join(SOURCE, file), join(directory, PLACE, file));
    await runInstaller('sh', ['-ec', install], {}, directory);
  });
  const home = await ownFolder();
  const isOurs = (path: string) => !path.endsWith('node_modules');
  await cp(SOURCE, join(home, PLACE), { recursive: true, filter: isOurs });
  await cp(join(ROOT, 'tsconfig.json'), join(home, 'tsconfig.json'));
  await symlink(join(installed, PLACE, 'node_modules'), join(home, PLACE, 'node_modules'));
  await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  return home;
}

export interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: {
    readonly summary: string;
    readonly rowsShown: number;
    readonly rowsInAll: number;
    readonly rows: readonly (readonly (string | null)[])[];
    readonly reports: readonly Readonly<Record<string, string>>[];
  };
}

interface CallOptions {
  readonly onprogress?: (progress: { readonly message?: string }) => void;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

/** The client of the SDK, as far as the tests use it: its package is not one of this project's. */
interface SdkClient {
  connect(transport: object): Promise<void>;
  listTools(): Promise<{
    readonly tools: readonly { readonly name: string; readonly annotations: object }[];
  }>;
  callTool(call: object, schema: undefined, options: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

interface Agent {
  readonly pid: number;
  readonly client: SdkClient;
  errors(): string;
  ask(tool: string, given: object, options?: CallOptions): Promise<Answer>;
}

/** Starts the server, and the SDK's client for it. The client checks each answer against the output schema. */
export async function startAgent(home: string, env: Readonly<Record<string, string>>): Promise<Agent> {
  const load = (path: string) =>
    import(
      pathToFileURL(join(home, PLACE, 'node_modules/@modelcontextprotocol/sdk/dist/esm/client', path)).href
    );
  const [{ Client }, { StdioClientTransport }] = await Promise.all([load('index.js'), load('stdio.js')]);
  const client: SdkClient = new Client({ name: 'test', version: '1.0.0' });
  const args = [join(home, PLACE, 'server.ts')];
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' });
  let errors = '';
  transport.stderr.on('data', (part: Buffer) => {
    errors += part;
  });
  await client.connect(transport).catch((error: Error) => {
    throw new Error(`${error.message} ${errors}`);
  });
  await client.listTools();
  return {
    pid: transport.pid,
    client,
    errors: () => errors,
    ask: (name, given, options = {}) =>
      client.callTool({ name, arguments: given }, undefined, { timeout: 900_000, ...options }),
  };
}

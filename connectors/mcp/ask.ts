/** `ask.ts <tool> '<JSON>'`: asks the server as an agent does, and prints the answer's text. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [name = 'describe', given = '{}'] = process.argv.slice(2);
const [command, args] = [process.execPath, [`${import.meta.dirname}/server.ts`]];
const client = new Client({ name: 'ask', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, env: process.env as Record<string, string> }));
const onprogress = ({ message }: { message?: string | undefined }) => process.stderr.write(`${message}\n`);
const call = { name, arguments: JSON.parse(given) };
const options = { onprogress, resetTimeoutOnProgress: true };
const { content, isError } = await client.callTool(call, undefined, options);
process.stdout.write(`${(content as { text: string }[])[0]?.text}\n`);
process.exitCode = isError ? 1 : 0;
await client.close();

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const guide = await readFile(new URL('../../docs/clients.md', import.meta.url), 'utf8');

/** Writes a program of docs/clients.md, as it is printed there, into a directory; resolves to its path. */
export async function writeSnippet(name: string, directory: string): Promise<string> {
  const fence = RegExp(`^\`\`\`\\w+ ${name.replaceAll('.', '\\.')}\\n(.*?)^\`\`\`$`, 'ms').exec(guide);
  if (!fence) throw new Error(`docs/clients.md has no program ${name}`);
  const file = join(directory, name);
  await writeFile(file, fence[1] ?? '');
  return file;
}

/** The names of all programs in docs/clients.md that have one. */
export const snippetNames = [...guide.matchAll(/^```\w+ (\S+)$/gm)].map(([, name]) => name as string);

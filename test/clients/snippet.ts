import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A guide of `docs/`, with programs that are run as they are printed. */
export interface Guide {
  /** The names of its programs, in their order. */
  readonly names: readonly string[];
  /** Writes a program into a directory; resolves to its path. */
  write(name: string, directory: string): Promise<string>;
}

export async function readGuide(fileName: string): Promise<Guide> {
  const guide = await readFile(new URL(`../../docs/${fileName}`, import.meta.url), 'utf8');
  const programs = new Map(
    [...guide.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => [name, text]),
  );
  return {
    names: [...programs.keys()],
    async write(name, directory) {
      const text = programs.get(name);
      if (text === undefined) throw new Error(`docs/${fileName} has no program ${name}`);
      const file = join(directory, name);
      await writeFile(file, text);
      return file;
    },
  };
}

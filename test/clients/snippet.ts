import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const DOCS = new URL('../../docs/', import.meta.url);

/** Pages of `docs/` with programs that the tests run exactly as printed. */
export interface Guide {
  /** The names of the guide's programs, in the order of the pages. */
  readonly names: readonly string[];
  /** Writes a program into a directory; resolves to its path. */
  write(name: string, directory: string): Promise<string>;
}

/** The pages of `docs/programs/`, by their file names. */
export const programPages = async (): Promise<string[]> =>
  (await readdir(new URL('programs/', DOCS)))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => `programs/${file}`);

export async function readGuide(...pages: readonly string[]): Promise<Guide> {
  const texts = await Promise.all(pages.map((page) => readFile(new URL(page, DOCS), 'utf8')));
  const programs = texts.flatMap((page) =>
    [...page.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => ({ name, text })),
  );
  return {
    names: programs.map(({ name }) => name),
    async write(name, directory) {
      const program = programs.find((one) => one.name === name);
      if (!program) throw new Error(`${pages.join(', ')}: no program ${name}`);
      const file = join(directory, name);
      await writeFile(file, program.text);
      return file;
    },
  };
}

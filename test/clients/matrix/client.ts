import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../run-program.ts';

/** A client of the table: the simplest program that its users would write, and the change that makes it work. */
export interface Client {
  readonly name: string;
  /** Reads URL (with all parameters except the filter), TEXT (the filter's value) and TOKEN; writes the file OUT. */
  readonly program: string;
  /** The lines that docs/programs/cures.md prints: each begins with a blank, `-` or `+`. */
  readonly cure?: readonly string[] | undefined;
  /** A program of one line that fails if the client's library, a system package, is missing. */
  readonly needs?: string | undefined;
}

/** Clients that one runtime runs. */
export interface Language {
  readonly name: string;
  readonly clients: readonly Client[];
  /** A command that fails if the machine does not have the runtime. */
  readonly runtime: readonly [command: string, ...parameters: string[]];
  /**
   * Resolves to a function that runs a program in its own directory. If the machine lacks a program or a library,
   * prints a line and resolves to undefined. Rejects if a download fails.
   */
  prepare(): Promise<RunSource | undefined>;
}

export type RunSource = (
  source: string,
  directory: string,
  environment: Readonly<Record<string, string>>,
) => Promise<unknown>;

const page = readFileSync(new URL('../../../docs/programs/cures.md', import.meta.url), 'utf8');
const CURE = /^## ([^\n]+)\n```diff\n(.*?)\n```$/gms;
/** The cures of docs/programs/cures.md: by client, the lines of its program that change, and some lines before them. */
export const cures: ReadonlyMap<string, readonly string[]> = new Map(
  [...page.matchAll(CURE)].map(([, name = '', lines = '']) => [name, lines.split('\n')]),
);

/**
 * The clients in a text: `## <name>` or `## <name> | <what it needs>`, and below it the program.
 *
 * @param wholeOf completes a program with what all programs of the language have
 */
export const clientsIn = (text: string, wholeOf = (program: string) => program): readonly Client[] =>
  text.split(/^## /m).flatMap((part) => {
    const [heading = '', ...lines] = part.trimEnd().split('\n');
    const [name = '', needs] = heading.split(' | ');
    return name ? [{ name, needs, program: wholeOf(lines.join('\n')), cure: cures.get(name) }] : [];
  });

/** The program with its cure. Throws if the program lacks a line of the cure. */
export function cured({ name, program, cure = [] }: Client): string {
  const left = program.split('\n');
  const made: string[] = [];
  for (const change of cure) {
    const line = change.slice(1);
    if (!change.startsWith('+')) {
      if (!left.includes(line)) throw new Error(`${name}: its program has no ${line}`);
      made.push(...left.splice(0, left.indexOf(line) + 1));
      if (change.startsWith('-')) made.pop();
    } else made.push(line);
  }
  return [...made, ...left].join('\n');
}

/** Runs a program with an interpreter, as a file of this name in the program's directory. */
export const runFile =
  (command: string, name: string, parameters: readonly string[] = []): RunSource =>
  async (source, cwd, env) => {
    await writeFile(join(cwd, name), source);
    return runProgram(command, [...parameters, join(cwd, name)], { cwd, env });
  };

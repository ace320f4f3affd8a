/** A client of the table: the simplest program that its users would write, and what must change in it. */
export type Client = {
  readonly name: string;
  /** Reads URL (with all parameters except the filter), TEXT (the filter's value) and TOKEN; writes the file OUT. */
  readonly program: string;
  /** Set if it parses the values and writes them in a form of its own; then rows are compared, not bytes. */
  readonly rewrites?: true;
} & (Healthy | Sick);

interface Healthy {
  readonly why?: never;
  readonly cures?: never;
}

interface Sick {
  /** Why the unchanged program can't pull some reports. */
  readonly why: string;
  /** Texts of the program to replace, and their replacements. */
  readonly cures: readonly { readonly from: string; readonly to: string }[];
}

/** Clients that one runtime runs. */
export interface Language {
  readonly name: string;
  readonly clients: readonly Client[];
  /** A command that fails where the machine has no such runtime. */
  readonly runtime: readonly [command: string, ...parameters: string[]];
  /**
   * Resolves to how a program is run in a directory of its own; to undefined, with a printed line, where the machine lacks
   * a program or a library. Rejects where a download fails.
   */
  prepare(): Promise<RunSource | undefined>;
}

export type RunSource = (
  source: string,
  directory: string,
  environment: Readonly<Record<string, string>>,
) => Promise<unknown>;

/** The program with its cures. Throws where the text to replace is not found. */
export function cured({ name, program, cures = [] }: Client): string {
  return cures.reduce((text, { from, to }) => {
    if (!text.includes(from)) throw new Error(`${name}: its program has no ${from}`);
    return text.replace(from, () => to);
  }, program);
}

/** A client of the table: the simplest program that its users would write, and the changes that make it work. */
export type Client = {
  readonly name: string;
  /** Reads URL (with all parameters except the filter), TEXT (the filter's value) and TOKEN; writes the file OUT. */
  readonly program: string;
  /** Set if the client parses the values and writes them in another form; then rows are compared, not bytes. */
  readonly rewrites?: true;
} & (Healthy | Sick);

interface Healthy {
  readonly why?: never;
  readonly cures?: never;
}

interface Sick {
  /** The reason why the unchanged program can't pull some reports. */
  readonly why: string;
  /** Texts to replace in the program, and their replacements. */
  readonly cures: readonly { readonly from: string; readonly to: string }[];
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

/** The program with its cures, which are the changes that make it work. Throws if a text to replace is missing. */
export function cured({ name, program, cures = [] }: Client): string {
  return cures.reduce((text, { from, to }) => {
    if (!text.includes(from)) throw new Error(`${name}: its program has no ${from}`);
    return text.replace(from, () => to);
  }, program);
}

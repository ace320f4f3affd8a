/** A client of the table: the most naive program that its users would write, and what must change in it. */
export interface Client {
  readonly name: string;
  /** Reads URL (with every parameter but the filter), TEXT (the filter's value) and TOKEN; writes the file OUT. */
  readonly program: string;
  /** One line each: what stands in the program, and what must stand there. */
  readonly cures?: readonly { readonly from: string; readonly to: string }[];
  /** Where more is to be said than the line. */
  readonly note?: string;
  /** Whether it writes the values again in a form of its own; then the rows are compared, not the bytes. */
  readonly rewrites?: true;
}

/** The clients that one runtime runs. */
export interface Language {
  readonly name: string;
  readonly clients: readonly Client[];
  /** How to run a program that lies in a directory of its own; undefined, and a line said, where this machine can't. */
  prepare(): Promise<RunSource | undefined>;
}

export type RunSource = (
  source: string,
  directory: string,
  environment: Readonly<Record<string, string>>,
) => Promise<unknown>;

/** The program with its cures. Throws where one of them meets nothing. */
export function cured({ name, program, cures = [] }: Client): string {
  return cures.reduce((text, { from, to }) => {
    if (!text.includes(from)) throw new Error(`${name}: its program has no ${from}`);
    return text.replace(from, () => to);
  }, program);
}

/** A client of the table: the most naive program that its users would write, and what must change in it. */
export type Client = {
  readonly name: string;
  /** Reads URL (with every parameter but the filter), TEXT (the filter's value) and TOKEN; writes the file OUT. */
  readonly program: string;
  /** Whether it writes the values again in a form of its own; then the rows are compared, not the bytes. */
  readonly rewrites?: true;
} & (Healthy | Sick);

interface Healthy {
  readonly why?: never;
  readonly cures?: never;
}

interface Sick {
  /** What keeps the naive program from some reports. */
  readonly why: string;
  /** What stands in the program, and what must stand there. */
  readonly cures: readonly { readonly from: string; readonly to: string }[];
}

/** Clients that one runtime runs. */
export interface Language {
  readonly name: string;
  readonly clients: readonly Client[];
  /** A command that fails where the machine has no such runtime. */
  readonly runtime: readonly [command: string, ...parameters: string[]];
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

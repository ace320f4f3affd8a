/** Receives the output of the functions, and the gateway's and the queues' lines about failed functions. */
export type Log = (text: string) => void;

export const toStderr: Log = (text) => void process.stderr.write(text);

/** The line for a function that failed. */
export const failureLine = (of: string, error: unknown): string =>
  `${of}: ${error instanceof Error ? error.message : error}\n`;

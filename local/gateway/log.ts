/** Takes what the functions write, and what the gateway and the queues say of functions that fail. */
export type Log = (text: string) => void;

export const toStderr: Log = (text) => void process.stderr.write(text);

/** The line for a function that failed. */
export const failureLine = (of: string, error: unknown): string =>
  `${of}: ${error instanceof Error ? error.message : error}\n`;

import { readFileSync } from 'node:fs';

const RUNBOOK = new URL('../../docs/runbook.md', import.meta.url);

/** The shell blocks of docs/runbook.md, by their names. */
export const runbookBlocks = (): ReadonlyMap<string, string> => {
  const blocks = readFileSync(RUNBOOK, 'utf8').matchAll(/^ *```sh (\S+)\n(.*?)^ *```$/gms);
  return new Map([...blocks].map(([, name = '', text = '']) => [name, text]));
};

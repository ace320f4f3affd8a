import { distance } from 'fastest-levenshtein';
import { tables } from '../lib/report/tables.ts';

const known = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)));

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The name of a file's column that probably means the contract's column `wanted`. Undefined if no name is similar. */
export function similarName(wanted: string, names: readonly string[]): string | undefined {
  const [nearest] = names
    .filter((name) => !known.has(name))
    .map((name) => ({ name, edits: distance(bare(wanted), bare(name)) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= 2 ? nearest.name : undefined;
}

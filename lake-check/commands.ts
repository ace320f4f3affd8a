import { basename, dirname, join, resolve } from 'node:path';
import { tables } from '../lib/report/tables.ts';

/** A command that the operator can paste, with its paths filled in. */
const command = (name: string, ...words: readonly string[]): string =>
  `\`npm run lake -- ${[name, ...words.map(shellWord)].join(' ')}\``;

export const checkCommand = (location: string): string => command('check', location);

export const initCommand = (location: string): string => command('init', location);

/** The command that converts files into a lake beside them. */
export const convertFiles = (location: string): string =>
  command('convert', location, '--to', beside(location, 'lake'));

/** The command that converts a lake into a new one beside it: a day's folder may hold records of another day. */
export const convertLake = (location: string): string =>
  command('convert', location, '--to', beside(location, 'converted'));

/** A text as one word of a shell's command line. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const isBucket = (location: string): boolean => location.startsWith('s3://');

/**
 * `/data/lake` and `converted` give `/data/lake-converted`; `/data/pandas.parquet` and `lake` give
 * `/data/pandas-lake`. Nothing can lie beside a whole bucket: `s3://bucket` and `lake` give `s3://bucket/lake`.
 */
function beside(location: string, suffix: string): string {
  const trimmed = location.replace(/\/+$/, '');
  if (isBucket(location))
    return /^s3:\/\/[^/]*$/.test(trimmed) ? `${trimmed}/${suffix}` : `${trimmed}-${suffix}`;
  const named = /^$|^\.{1,2}$/.test(basename(trimmed)) ? resolve(location) : trimmed;
  return join(dirname(named), `${basename(named).replace(/(\.(parquet|csv|tsv|txt|gz))+$/i, '')}-${suffix}`);
}

/** The lake around a location that is in a table's folder. Undefined if no part of the path has a table's name. */
export function lakeAround(location: string): string | undefined {
  const path = isBucket(location) ? location : resolve(location);
  const parts = path.replace(/\/+$/, '').split('/');
  const names: readonly string[] = tables.map(({ name }) => name);
  const at = parts.findIndex((part) => names.includes(part));
  return at < 0 ? undefined : parts.slice(0, at).join('/') || '/';
}

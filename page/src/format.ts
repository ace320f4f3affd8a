import type { Field } from '../../lib/report/catalogue.ts';
import type { Cell } from './read-csv.ts';

/** Digits in groups of three, nothing rounded: `1234567.890000` is `1,234,567.890000`. */
export function grouped(digits: string | number): string {
  const [whole = '', fraction] = String(digits).split('.');
  const thousands = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? thousands : `${thousands}.${fraction}`;
}

/** `1 row`, `2 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

export function fileSize(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}

export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A value of the table as people read it: digits in groups, a day without its midnight, an hour without its zeros. */
export function shownCell(cell: Cell, field: Field | undefined): string {
  if (cell === null) return '';
  if (field?.role === 'metric') return grouped(cell);
  if (field?.role !== 'dimension' || field.type !== 'datetime') return cell;
  return field.grain === 'day' ? cell.slice(0, 10) : cell.slice(0, 16).replace('T', ' ');
}

/** A number on an axis or in a legend, where digits matter less than room. */
export const rough = (value: number): string =>
  new Intl.NumberFormat('en', {
    maximumSignificantDigits: 4,
    notation: Math.abs(value) >= 1e6 ? 'compact' : 'standard',
  }).format(value);

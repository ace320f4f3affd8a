import type { ComponentChild } from 'preact';
import type { Field } from '../../../lib/report/catalogue.ts';
import { grouped, rounded, shownCell, shownRatio } from '../format.ts';
import { unitOf } from '../reader/ratios.ts';
import type { ShownCell, TableColumn } from '../reader/reader-messages.ts';

/** A change in per cent has this many places in the table: its title has all. */
const PERCENT_PLACES = 2;

export const isNumber = ({ kind }: TableColumn): boolean => kind !== 'dimension';

/** A value of the table as people read it; the empty text where there is none. */
export function shownText(cell: ShownCell, { kind, of }: TableColumn, field: Field | undefined): string {
  if (cell === null || cell === undefined) return '';
  switch (kind) {
    case 'dimension':
      return shownCell(cell, field);
    case 'metric':
    case 'before':
      return grouped(cell);
    case 'ratio':
      return shownRatio(cell, unitOf(of) ?? 'times');
    case 'change':
      return signed(grouped(cell));
    case 'percent':
      return `${signed(grouped(rounded(cell, PERCENT_PLACES)))} %`;
  }
}

const signed = (text: string): string => (text.startsWith('-') || !/[1-9]/.test(text) ? text : `+${text}`);

/** What is rounded in the table, with all its digits. */
export const exactText = (cell: ShownCell, { kind }: TableColumn): string | undefined =>
  cell && (kind === 'ratio' || kind === 'percent') ? cell : undefined;

export function ShownValue({
  cell,
  column,
  field,
}: {
  readonly cell: ShownCell;
  readonly column: TableColumn;
  readonly field: Field | undefined;
}): ComponentChild {
  if (cell === undefined) return <span class="dim">no row</span>;
  if (cell === null) return <Missing words={column.kind === 'dimension' ? 'not known' : 'no value'} />;
  if (cell === '') return <span class="dim">""</span>;
  const text = shownText(cell, column, field);
  return column.kind === 'change' && /[1-9]/.test(text) ? (
    <span class={text.startsWith('-') ? 'fall' : 'rise'}>{text}</span>
  ) : (
    text
  );
}

const Missing = ({ words }: { readonly words: string }) => (
  <span class="dim">
    <span aria-hidden="true">–</span>
    <span class="visually-hidden">{words}</span>
  </span>
);

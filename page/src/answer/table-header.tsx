import type { ComponentChild } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Field } from '../../../lib/report/catalogue.ts';
import { directionOf, grouped, shownCell, shownChange, shownRatio } from '../format.ts';
import { unitOf } from '../reader/ratios.ts';
import type { ShownCell, TableColumn, View } from '../reader/reader-messages.ts';

export const isNumber = ({ kind }: TableColumn): boolean => kind !== 'dimension';

/** The text of a table value, for people. Empty if there is no value. */
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
      return shownChange(cell, false);
    case 'percent':
      return `${shownChange(cell, false)} %`;
  }
}

/** All digits of a value that the table shows rounded; undefined for other values. */
export const exactText = (cell: ShownCell, { kind }: TableColumn): string | undefined =>
  cell && kind === 'ratio' ? cell : undefined;

export function ShownValue(value: {
  readonly cell: ShownCell;
  readonly column: TableColumn;
  readonly field: Field | undefined;
}): ComponentChild {
  const { cell, column, field } = value;
  if (cell === undefined) return <span class="dim">no row</span>;
  if (cell === null) return <Missing words={column.kind === 'dimension' ? 'not known' : 'no value'} />;
  if (cell === '') return <span class="dim">""</span>;
  const text = shownText(cell, column, field);
  return column.kind === 'change' ? <span class={directionOf(cell)}>{text}</span> : text;
}

const Missing = ({ words }: { readonly words: string }) => (
  <span class="dim">
    <span aria-hidden="true">–</span>
    <span class="visually-hidden">{words}</span>
  </span>
);

/** The header of a column. If the table can be sorted, a press on the header sorts the rows. */
export function TableHeader(header: {
  readonly column: TableColumn;
  /**
   * The dimension that the column's metric is counted by. Opens, for example, are counted by placement or by container,
   * depending on the requested fields. Undefined if the metric has only one level.
   */
  readonly level: string | undefined;
  readonly sort: View['sort'];
  readonly onSort: ((column: TableColumn) => void) | undefined;
}) {
  const { column, level, sort, onSort } = header;
  const isSorted = sort?.column === column.id;
  const direction = isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none';
  const label = (
    <>
      {column.id}
      {column.kind === 'ratio' && <span class="derived"> derived</span>}
      {level && <span class="derived"> by {level}</span>}
    </>
  );
  const cell = useRef<HTMLTableCellElement>(null);
  // Scrolls to the sorted column: if the user chose it with the keyboard, it may be out of sight.
  useLayoutEffect(() => {
    if (isSorted) cell.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isSorted]);
  return (
    <th
      ref={cell}
      scope="col"
      class={isNumber(column) ? 'number' : ''}
      {...(onSort && { 'aria-sort': direction })}
    >
      {onSort ? (
        <button type="button" class="sort" onClick={() => onSort(column)}>
          {isSorted && (
            <span class="sort-sign" aria-hidden="true">
              {sort.isDescending ? '▼ ' : '▲ '}
            </span>
          )}
          {label}
        </button>
      ) : (
        label
      )}
    </th>
  );
}

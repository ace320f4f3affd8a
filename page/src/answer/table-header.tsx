import { useLayoutEffect, useRef } from 'preact/hooks';
import type { TableColumn, View } from '../reader/reader-messages.ts';
import { isNumber } from './shown-value.tsx';

/** The header of a column. If the table can be sorted, a press on the header sorts the rows. */
export function TableHeader({
  column,
  level,
  sort,
  onSort,
}: {
  readonly column: TableColumn;
  /**
   * The dimension that the column's metric is counted by. Opens, for example, are counted by placement or by container,
   * depending on the requested fields. Undefined if the metric has only one level.
   */
  readonly level: string | undefined;
  readonly sort: View['sort'];
  readonly onSort: ((column: TableColumn) => void) | undefined;
}) {
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

import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Field } from '../../../lib/report/catalogue.ts';
import { levelOf } from '../levels.ts';
import type { ShownCell, TableColumn, View } from '../reader/reader-messages.ts';
import { exactText, isNumber, ShownValue, shownText, TableHeader } from './table-header.tsx';

/** The height of a row. It must equal the row height in page.css. */
const ROW_PX = 30;
/** The table draws this many rows above and below the visible ones, so that scrolling does not outrun the drawing. */
const SPARE_ROWS = 16;
/** The table redraws after scrolling by this many rows. Most scrolling therefore draws nothing. */
const STEP_ROWS = 8;
const MAX_WIDTH_CH = 44;
/**
 * The largest height of the table, since browsers limit the height of a box (Firefox: 17.9 million pixels). With more
 * rows, each pixel scrolls further.
 */
const MAX_HEIGHT_PX = 15_000_000;

type Row = readonly ShownCell[];

/** A table with any number of rows. It draws only the visible rows and some around them. */
export function VirtualTable(table: {
  readonly columns: readonly TableColumn[];
  readonly fieldOf: (name: string) => Field | undefined;
  readonly rowCount: number;
  /** Returns a row of the table; undefined until the row has arrived. */
  readonly rowAt: (index: number) => Row | undefined;
  /** The rows that set the widths of the columns. */
  readonly measured: readonly Row[];
  readonly totals?: Row;
  readonly totalsLabel?: string;
  readonly sort?: View['sort'];
  readonly onSort?: (column: TableColumn) => void;
}) {
  const { columns, fieldOf, rowCount, rowAt, measured, totals, totalsLabel, sort, onSort } = table;
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const [seenRows, setSeenRows] = useState(20);
  const heightPx = Math.min(MAX_HEIGHT_PX, rowCount * ROW_PX);
  const isScaled = heightPx < rowCount * ROW_PX;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const step = isScaled ? 1 : STEP_ROWS * ROW_PX;
      setTop(Math.floor(element.scrollTop / step) * step);
      setSeenRows(Math.ceil(element.clientHeight / ROW_PX));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [isScaled]);
  // Scrolls to the top when the order or the rows change.
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = 0;
  }, [totals]);
  const fields = columns.map(({ of }) => of);
  const levelAt = (column: TableColumn) => levelOf(fieldOf(column.of), fields);
  const headerLength = (column: TableColumn) => {
    const level = levelAt(column);
    return column.id.length + (level === undefined ? (column.kind === 'ratio' ? 10 : 2) : level.length + 6);
  };
  const totalText = (row: Row, column: TableColumn, index: number): string => {
    const text = shownText(row[index], column, fieldOf(column.of));
    return index === 0 ? `${totalsLabel} ${text}` : text;
  };
  const widths = useMemo(
    () =>
      columns.map((column, index) => {
        const field = fieldOf(column.of);
        const longest = measured.reduce(
          (most, row) => Math.max(most, shownText(row[index], column, field).length),
          Math.max(4, totals ? totalText(totals, column, index).length : 0),
        );
        return Math.min(MAX_WIDTH_CH, Math.max(longest, headerLength(column)));
      }),
    [measured.length, totals, columns],
  );
  // The table's width. Without this width, the table would grow with its longest text.
  const width = `calc(${widths.reduce((sum, one) => sum + one, 0)}ch + ${widths.length * 1.6}rem)`;
  const firstSeen = isScaled
    ? Math.round((top / Math.max(1, heightPx - seenRows * ROW_PX)) * (rowCount - seenRows))
    : top / ROW_PX;
  const first = Math.max(0, Math.floor(firstSeen) - SPARE_ROWS);
  const end = Math.min(rowCount, Math.ceil(firstSeen) + STEP_ROWS + seenRows + SPARE_ROWS);
  const above = isScaled ? Math.max(0, top - (firstSeen - first) * ROW_PX) : first * ROW_PX;
  const below = Math.max(0, heightPx - above - (end - first) * ROW_PX);
  // Keeps drawn rows, because Preact does not compare a row that is the same object as before. Scrolling then costs
  // only the rows that become visible.
  const drawn = useMemo(() => new Map<number, VNode>(), [measured, columns, totals]);
  const rowNode = (index: number): VNode => {
    const kept = drawn.get(index);
    if (kept) return kept;
    const row = rowAt(index);
    const node = (
      <tr key={index} aria-rowindex={index + 2} class={index % 2 ? '' : 'even'}>
        {columns.map((column, at) => (
          <td
            key={column.id}
            class={isNumber(column) ? 'number' : ''}
            title={row && exactText(row[at], column)}
          >
            {row && <ShownValue cell={row[at]} column={column} field={fieldOf(column.of)} />}
          </td>
        ))}
      </tr>
    );
    if (row) drawn.set(index, node);
    return node;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
    <section class="rows-box" ref={box} tabIndex={0} aria-label="Rows of the report">
      <table aria-rowcount={rowCount + (totals ? 2 : 1)} style={{ width: `max(100%, ${width})` }}>
        <colgroup>
          {widths.map((width, index) => (
            <col key={columns[index]?.id} style={{ width: `calc(${width}ch + 1.6rem)` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <TableHeader
                key={column.id}
                column={column}
                level={levelAt(column)}
                sort={sort}
                onSort={onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Gap heightPx={above} columns={columns.length} />}
          {Array.from({ length: Math.max(0, end - first) }, (_, index) => rowNode(first + index))}
          {below > 0 && <Gap heightPx={below} columns={columns.length} />}
        </tbody>
        {totals && (
          <tfoot>
            <tr aria-rowindex={rowCount + 2}>
              {columns.map((column, index) => {
                const Cell = index === 0 ? 'th' : 'td';
                return (
                  <Cell
                    key={column.id}
                    {...(index === 0 && { scope: 'row' })}
                    class={isNumber(column) ? 'number' : ''}
                    title={exactText(totals[index], column)}
                  >
                    {index === 0 && <span class={isNumber(column) ? 'dim' : ''}>{totalsLabel} </span>}
                    {column.kind !== 'dimension' && (
                      <ShownValue cell={totals[index]} column={column} field={fieldOf(column.of)} />
                    )}
                  </Cell>
                );
              })}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** An empty row that fills the place of the rows that are not drawn, above or below the drawn rows. */
const Gap = ({ heightPx, columns }: { readonly heightPx: number; readonly columns: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can have the focus
  <tr aria-hidden="true" class="gap">
    <td colSpan={columns} style={{ height: `${heightPx}px` }} />
  </tr>
);

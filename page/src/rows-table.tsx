import type { ComponentChild, VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Field, fieldOf, reportOf } from '../../lib/report/catalogue.ts';
import { counted, grouped, shownCell } from './format.ts';
import type { Cell } from './read-csv.ts';
import type { Run } from './run.ts';

/** As the style sheet has it. */
const ROW_PX = 30;
/** Drawn above and below what is seen, so that scrolling does not outrun it. */
const SPARE_ROWS = 16;
/** Rows come and go in steps of so many: most scrolling draws nothing anew. */
const STEP_ROWS = 8;
const MAX_WIDTH_CH = 44;

/** The first rows of a report, of which only those in sight are drawn. */
export function RowsTable({ rows, run }: { readonly rows: readonly (readonly Cell[])[]; readonly run: Run }) {
  const box = useRef<HTMLElement>(null);
  const [step, setStep] = useState(0);
  const [seenRows, setSeenRows] = useState(20);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      setStep(Math.floor(element.scrollTop / ROW_PX / STEP_ROWS));
      setSeenRows(Math.ceil(element.clientHeight / ROW_PX));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const report = reportOf(run.report);
  const columns = run.fields.map((name) => {
    const field = report && fieldOf(report, name);
    return { name, field, isNumber: field?.role === 'metric' };
  });
  const widths = useMemo(
    () =>
      columns.map(({ name, field }, index) => {
        const longest = rows.reduce(
          (most, row) => Math.max(most, shownCell(row[index] ?? null, field).length),
          4,
        );
        return Math.min(MAX_WIDTH_CH, Math.max(longest, name.length));
      }),
    [rows, run.fields],
  );
  // Preact does not compare a row that is the same object as before: scrolling costs only what comes into sight.
  const drawn = useMemo(() => new Map<number, VNode>(), [rows, run.fields]);
  const rowAt = (index: number): VNode => {
    const row = drawn.get(index) ?? (
      <tr key={index} aria-rowindex={index + 2}>
        {columns.map(({ name, field, isNumber }, column) => (
          <td key={name} class={isNumber ? 'number' : ''}>
            {shown(rows[index]?.[column] ?? null, field)}
          </td>
        ))}
      </tr>
    );
    drawn.set(index, row);
    return row;
  };
  // Without a width of its own, the table would grow with its longest text.
  const width = `calc(${widths.reduce((sum, one) => sum + one, 0)}ch + ${widths.length * 1.6}rem)`;
  const first = Math.max(0, step * STEP_ROWS - SPARE_ROWS);
  const end = Math.min(rows.length, (step + 1) * STEP_ROWS + seenRows + SPARE_ROWS);
  const rowCount = run.reading?.rowCount ?? rows.length;
  return (
    <div>
      <h3>
        {rows.length < rowCount ? `The first ${counted(rows.length, 'row')} of ${grouped(rowCount)}` : 'Rows'}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard */}
      <section class="rows-box" ref={box} tabIndex={0} aria-label="Rows of the report">
        <table aria-rowcount={rows.length + 1} style={{ width: `max(100%, ${width})` }}>
          <colgroup>
            {widths.map((width, index) => (
              <col key={run.fields[index]} style={{ width: `calc(${width}ch + 1.6rem)` }} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map(({ name, isNumber }) => (
                <th key={name} scope="col" class={isNumber ? 'number' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <Gap rowCount={first} columns={columns.length} />}
            {rows.slice(first, end).map((_, index) => rowAt(first + index))}
            {end < rows.length && <Gap rowCount={rows.length - end} columns={columns.length} />}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function shown(cell: Cell, field: Field | undefined): ComponentChild {
  if (cell === null) return <NotKnown />;
  return cell === '' ? <span class="dim">""</span> : shownCell(cell, field);
}

/** Takes the room of the rows that are not drawn. */
const Gap = ({ rowCount, columns }: { readonly rowCount: number; readonly columns: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can have the focus
  <tr aria-hidden="true" class="gap">
    <td colSpan={columns} style={{ height: `${rowCount * ROW_PX}px` }} />
  </tr>
);

const NotKnown = () => (
  <span class="dim">
    <span aria-hidden="true">–</span>
    <span class="visually-hidden">not known</span>
  </span>
);

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Field, fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { counted, grouped } from '../format.ts';
import type { TableColumn, View } from '../reader/reader-messages.ts';
import type { Run } from '../run.ts';
import { changeView, isAtIt, loadedRows, view, viewResult, viewRow } from './table-rows.ts';
import { VirtualTable } from './virtual-table.tsx';

const TOPS = [10, 25, 100, 1_000];
/** The search starts when the user has not typed for this long. */
const TYPING_MS = 150;

/** The inputs that choose which rows of the report the table shows. */
function TableControls({ rowCount, run }: { readonly rowCount: number; readonly run: Run }) {
  const { tableRows: all = 0, columns = [] } = run;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  /** The text while the user types it. */
  const [draft, setDraft] = useState<string>();
  const hasDimensions = columns.some(({ kind }) => kind === 'dimension');
  return (
    <div class="table-controls">
      <h3>
        <span role="status">
          {rowCount === all ? counted(all, 'row') : `${grouped(rowCount)} of ${counted(all, 'row')}`}
        </span>
      </h3>
      {hasDimensions && (
        <input
          type="search"
          placeholder="Search the rows"
          aria-label="Search the rows"
          value={draft ?? view.value.search}
          onInput={({ currentTarget }) => {
            clearTimeout(timer.current);
            const search = currentTarget.value;
            setDraft(search);
            timer.current = setTimeout(() => {
              setDraft(undefined);
              changeView({ search });
            }, TYPING_MS);
          }}
        />
      )}
      <label>
        <span>Show</span>
        <select
          aria-label="How many rows"
          value={String(view.value.top ?? '')}
          onChange={({ currentTarget: { value } }) =>
            changeView({ top: value === '' ? undefined : Number(value) })
          }
        >
          <option value="">all</option>
          {[...new Set([...TOPS, ...(view.value.top === undefined ? [] : [view.value.top])])].map((top) => (
            <option key={top} value={top}>
              the first {grouped(top)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** The table with all rows of a report. The user can sort it, search it and limit its rows. */
export function RowsTable({ run }: { readonly run: Run }) {
  const result = viewResult.value;
  if (!result || !run.columns) return null;
  const all = run.tableRows ?? 0;
  const { sort } = view.value;
  return (
    <div class="rows" aria-busy={isAtIt()}>
      <TableControls rowCount={result.rowCount} run={run} />
      <VirtualTable
        columns={run.columns}
        fieldOf={fieldsOf(run)}
        rowCount={result.rowCount}
        rowAt={viewRow}
        measured={loadedRows.value}
        totals={result.totals}
        totalsLabel={totalsLabel(result.rowCount, all)}
        sort={sort}
        onSort={(column) => changeView({ sort: nextSort(column, sort) })}
      />
    </div>
  );
}

function totalsLabel(rowCount: number, all: number): string {
  if (rowCount === all) return 'All rows';
  return rowCount === 1 ? 'This row' : `These ${grouped(rowCount)} rows`;
}

/**
 * The sort order after a press on a column's header. The first press sorts numbers from the largest and texts from the
 * first. The second press reverses the order. The third press restores the file's order.
 */
function nextSort(column: TableColumn, sort: View['sort']): View['sort'] {
  const first = column.kind !== 'dimension';
  if (sort?.column !== column.id) return { column: column.id, isDescending: first };
  return sort.isDescending === first ? { column: column.id, isDescending: !first } : undefined;
}

/** The first rows of a file, in the file's order, while the page reads the file or if the file is too large to read. */
export function ReadingRows({ run }: { readonly run: Run }) {
  const rows = run.firstRows;
  if (rows.length === 0) return null;
  const fields = fieldsOf(run);
  const columns = run.choice.fields.map(
    (name): TableColumn => ({
      id: name,
      of: name,
      kind: fields(name)?.role === 'metric' ? 'metric' : 'dimension',
    }),
  );
  return (
    <div class="rows">
      <h3>The first {grouped(rows.length)} rows</h3>
      <VirtualTable
        columns={columns}
        fieldOf={fields}
        rowCount={rows.length}
        rowAt={(index) => rows[index]}
        measured={rows}
      />
    </div>
  );
}

function fieldsOf({ report }: Run): (name: string) => Field | undefined {
  const known = reportOf(report);
  return (name) => known && fieldOf(known, name);
}

import { useEffect, useRef, useState } from 'preact/hooks';
import { counted, grouped } from '../format.ts';
import type { TableColumn } from '../reader/reader-messages.ts';
import { changeView, view } from './table-rows.ts';

const TOPS = [10, 25, 100, 1_000];
/** The search starts when the user has not typed for this long. */
const TYPING_MS = 150;

/** The inputs that choose which rows of the report the table shows. */
export function TableControls({
  rowCount,
  all,
  columns,
}: {
  readonly rowCount: number;
  readonly all: number;
  readonly columns: readonly TableColumn[];
}) {
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

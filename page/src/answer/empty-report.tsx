import { useEffect, useState } from 'preact/hooks';
import { chosenReport } from '../question/request.ts';
import type { Run } from '../run.ts';
import { choice, choose } from '../state.ts';
import { type EmptyReason, explainEmpty } from './explain-empty.ts';

/** Says why a report has no rows: which filter matches nothing, and which similar values occur. */
export function EmptyReport({ run: { caller, choice: asked, askedDays: days } }: { readonly run: Run }) {
  const [reasons, setReasons] = useState<readonly EmptyReason[]>();
  useEffect(() => {
    let isGone = false;
    void explainEmpty(caller, asked, chosenReport(asked), days).then((found) => isGone || setReasons(found));
    return () => {
      isGone = true;
    };
  }, [caller, asked, days]);
  return (
    <div class="empty" role="status">
      {asked.filters.length === 0 && (
        <p>
          {days.first === days.last ? days.first : `${days.first} to ${days.last}`}: no row of what this token
          may see. Choose other days.
        </p>
      )}
      {asked.filters.length > 0 && reasons === undefined && (
        <p>Looking for the filter that leaves no row …</p>
      )}
      {reasons?.map(({ words, field, value, near }) => (
        <p key={words}>
          {words}{' '}
          {near.map((candidate) => (
            <button
              key={candidate}
              type="button"
              class="pill"
              onClick={() =>
                choose({
                  filters: choice.value.filters.map((filter) =>
                    filter.field === field
                      ? { ...filter, values: filter.values.map((one) => (one === value ? candidate : one)) }
                      : filter,
                  ),
                })
              }
            >
              Use {JSON.stringify(candidate)}
            </button>
          ))}
        </p>
      ))}
    </div>
  );
}

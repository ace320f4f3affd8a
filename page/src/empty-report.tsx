import { useEffect, useState } from 'preact/hooks';
import { type EmptyReason, reasonWords } from './empty-reasons.ts';
import { chosenReport } from './request.ts';
import type { Run } from './run.ts';
import { choice, choose } from './state.ts';
import { explainEmpty } from './values-in-days.ts';

/** Why a report has no rows: which filter leaves nothing, and what is near. */
export function EmptyReport({ run: { choice: asked, days } }: { readonly run: Run }) {
  const [reasons, setReasons] = useState<readonly EmptyReason[]>();
  useEffect(() => {
    let isGone = false;
    void explainEmpty(asked, chosenReport(asked), days).then((found) => isGone || setReasons(found));
    return () => {
      isGone = true;
    };
  }, [asked, days]);
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
      {reasons?.map((reason) => (
        <p key={reasonWords(reason)}>
          {reasonWords(reason)} {reason.kind === 'no-such-value' && <Near reason={reason} />}
        </p>
      ))}
    </div>
  );
}

/** Puts a value that occurs in the place of the one that doesn't. */
function Near({
  reason: { field, value, near },
}: {
  readonly reason: Extract<EmptyReason, { kind: 'no-such-value' }>;
}) {
  const put = (candidate: string) =>
    choose({
      filters: choice.value.filters.map((filter) =>
        filter.field === field
          ? { ...filter, values: filter.values.map((one) => (one === value ? candidate : one)) }
          : filter,
      ),
    });
  return (
    <>
      {near.map((candidate) => (
        <button key={candidate} type="button" class="pill" onClick={() => put(candidate)}>
          Use {JSON.stringify(candidate)}
        </button>
      ))}
    </>
  );
}

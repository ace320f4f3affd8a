import { useEffect, useState } from 'preact/hooks';
import { dimensionsOf } from '../../../lib/report/catalogue.ts';
import { Pill } from '../buttons.tsx';
import type { ChosenFilter } from '../question/choice.ts';
import { chosenReport } from '../question/request.ts';
import { noValuesWords, valuesInDays } from '../question/values-in-days.ts';
import type { Run } from '../run.ts';
import { choice, choose } from '../state.ts';
import { causeWords, emptyCauses, type JudgedFilter } from './empty-causes.ts';

/**
 * A sentence that says why a report has no rows. If a filter's value does not occur, also the values that the user may
 * have meant.
 */
interface EmptyReason {
  readonly words: string;
  readonly field?: string;
  /** The filter's value that does not occur. */
  readonly value?: string;
  /** The values that occur and are most similar to `value`: at most three, the most similar first. */
  readonly near: readonly string[];
}

/**
 * Says why a report of this choice has no rows, with a sentence for each cause (EmptyCause). To find the causes, asks
 * for one report for each filter by a text or a number, and caches the answers. If such a report fails, the only
 * sentence says so. Empty if no cause is found. Never rejects.
 */
async function explainEmpty(run: Run): Promise<readonly EmptyReason[]> {
  try {
    const judged = await Promise.all(run.choice.filters.map((filter) => withValues(run, filter)));
    return emptyCauses(judged, run.askedDays).map((cause) => ({
      words: causeWords(cause),
      ...(cause.kind === 'no-such-value'
        ? { field: cause.field, value: cause.value, near: cause.near }
        : { near: [] }),
    }));
  } catch (error) {
    return [
      { words: `Which filter leaves no row could not be found out. ${noValuesWords(error)}`, near: [] },
    ];
  }
}

async function withValues(run: Run, { field, values }: ChosenFilter): Promise<JudgedFilter> {
  const { caller, choice: asked, askedDays: days } = run;
  const report = chosenReport(asked);
  const dimension = dimensionsOf(report).find(({ name }) => name === field);
  if (!dimension) throw new TypeError(`${report.name} has no dimension ${field}`);
  return dimension.type === 'datetime'
    ? { dimension, values }
    : { dimension, values, found: await valuesInDays(caller, report.name, field, days) };
}

/** Says why a report has no rows: which filter matches nothing, and which similar values occur. */
export function EmptyReport({ run }: { readonly run: Run }) {
  const { choice: asked, askedDays: days } = run;
  const [reasons, setReasons] = useState<readonly EmptyReason[]>();
  useEffect(() => {
    let isGone = false;
    void explainEmpty(run).then((found) => isGone || setReasons(found));
    return () => {
      isGone = true;
    };
  }, [run]);
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
            <Pill
              key={candidate}
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
            </Pill>
          ))}
        </p>
      ))}
    </div>
  );
}

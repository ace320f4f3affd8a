import { useState } from 'preact/hooks';
import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { called, focusOn, Pill } from '../buttons.tsx';
import { isUnderWay } from '../run.ts';
import { days, report, windowDays } from '../state.ts';
import { chosenCaller, isCallerKnown } from './caller.ts';
import type { FoundValues } from './found-values.ts';
import { ValueList, type ValueProps } from './value-list.tsx';
import { noValuesWords, valuesInDays } from './values-in-days.ts';

/** A question for values, and its answer once it has arrived. The question is a key that includes the caller. */
interface Asked {
  readonly question: string;
  readonly found?: FoundValues;
  readonly failure?: string;
}

/**
 * Lets the user choose from the values of a dimension that occur in the chosen days. The page asks for the values only
 * after a click.
 */
export function FilterValues({ dimension, values, onChange }: ValueProps) {
  const { name } = dimension;
  const [latest, setLatest] = useState<Asked>();
  const caller = chosenCaller();
  const question = JSON.stringify([caller.key, report.value.name, name, days.value]);
  // Does not show values of other days or of another caller.
  const asked = latest?.question === question ? latest : undefined;
  const disabledReason = disabledReasonNow();
  const ask = async () => {
    setLatest({ question });
    const answer = await valuesInDays(caller, report.value.name, name, days.value).then(
      (found) => ({ found }),
      (error: unknown) => ({ failure: noValuesWords(error) }),
    );
    setLatest((now) => (now?.question === question ? { question, ...answer } : now));
  };
  const isLoading = asked !== undefined && !asked.found && asked.failure === undefined;
  const valuesLabel = `Values in these days of ${name}`;
  const reasonId = `values-reason-${name}`;
  return (
    <div class="filter-values">
      {/* The keyboard can't reach a `disabled` button. `aria-disabled` lets a screen reader read the reason aloud. */}
      <Pill
        class="pill quiet"
        aria-label={valuesLabel}
        aria-expanded={asked !== undefined}
        aria-disabled={disabledReason !== undefined && !asked}
        {...(disabledReason !== undefined && !asked && { 'aria-describedby': reasonId })}
        onClick={() => {
          if (asked) setLatest(undefined);
          else if (disabledReason === undefined) void ask();
        }}
      >
        Values in these days
      </Pill>
      {disabledReason !== undefined && !asked && (
        <span class="hint" id={reasonId}>
          {disabledReason}
        </span>
      )}
      <p class="hint" role="status">
        {isLoading ? `Looking for the values of ${name} in these days. It may take some minutes.` : ''}
        {asked?.found?.count === 0 ? 'There are no rows in these days, and so no values.' : ''}
      </p>
      {asked?.failure !== undefined && (
        <div class="faults" role="alert">
          <p>{asked.failure}</p>
          {disabledReason === undefined && (
            <Pill
              aria-label={`Ask again for the values of ${name}`}
              onClick={() => {
                void ask();
                // This button disappears, so the focus moves.
                focusOn(called(valuesLabel));
              }}
            >
              Ask again
            </Pill>
          )}
        </div>
      )}
      {asked?.found && asked.found.count > 0 && (
        <ValueList dimension={dimension} values={values} found={asked.found} onChange={onChange} />
      )}
    </div>
  );
}

/** Says when the page can ask for values, if it can't ask now; undefined if it can. */
function disabledReasonNow(): string | undefined {
  if (isUnderWay()) return 'Once the report that is being made is there.';
  if (windowDays.value.length === 0 || windowDays.value.length > MAX_WINDOW_DAYS)
    return 'Once the days are right.';
  return isCallerKnown.value ? undefined : 'Once it is known who asks.';
}

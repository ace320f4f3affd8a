import { useState } from 'preact/hooks';
import type { ColumnDimension } from '../../../lib/report/catalogue.ts';
import { MAX_WINDOW_DAYS } from '../../../lib/report/parse-request.ts';
import { called, focusOn } from '../focus.ts';
import { counted, grouped } from '../format.ts';
import { isUnderWay } from '../run.ts';
import { days, report, windowDays } from '../state.ts';
import { chosenCaller, isCallerKnown } from './caller.ts';
import { valueFault } from './fault-words.ts';
import {
  type FoundValue,
  type FoundValues,
  isChosen,
  searchValues,
  shareWords,
  valueWords,
  withToggled,
} from './found-values.ts';
import { noValuesWords, valuesInDays } from './values-in-days.ts';

/** More are not drawn: they are found by searching. */
const MAX_DRAWN = 50;

interface Props {
  readonly dimension: ColumnDimension;
  /** The filter's values. */
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}

/** What was asked for, by whom, and what came of it. */
interface Asked {
  readonly question: string;
  readonly found?: FoundValues;
  readonly failure?: string;
}

/** The values of a dimension that occur in the chosen days, to choose from. They are asked for by a click alone. */
export function FilterValues({ dimension, values, onChange }: Props) {
  const { name } = dimension;
  const [latest, setLatest] = useState<Asked>();
  const caller = chosenCaller();
  const question = JSON.stringify([caller.key, report.value.name, name, days.value]);
  // Of other days, or of another caller, nothing is shown.
  const asked = latest?.question === question ? latest : undefined;
  const hindrance = hindranceNow();
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
      {/* A disabled button could not be reached, nor its reason be heard. */}
      <button
        type="button"
        class="pill quiet"
        aria-label={valuesLabel}
        aria-expanded={asked !== undefined}
        aria-disabled={hindrance !== undefined && !asked}
        {...(hindrance !== undefined && !asked && { 'aria-describedby': reasonId })}
        onClick={() => {
          if (asked) setLatest(undefined);
          else if (hindrance === undefined) void ask();
        }}
      >
        Values in these days
      </button>
      {hindrance !== undefined && !asked && (
        <span class="hint" id={reasonId}>
          {hindrance}
        </span>
      )}
      <p class="hint" role="status">
        {isLoading ? `Looking for the values of ${name} in these days. It may take some minutes.` : ''}
        {asked?.found?.count === 0 ? 'There are no rows in these days, and so no values.' : ''}
      </p>
      {asked?.failure !== undefined && (
        <div class="faults" role="alert">
          <p>{asked.failure}</p>
          {hindrance === undefined && (
            <button
              type="button"
              class="pill"
              aria-label={`Ask again for the values of ${name}`}
              onClick={() => {
                void ask();
                // This button goes away.
                focusOn(called(valuesLabel));
              }}
            >
              Ask again
            </button>
          )}
        </div>
      )}
      {asked?.found && asked.found.count > 0 && (
        <ValueList dimension={dimension} values={values} found={asked.found} onChange={onChange} />
      )}
    </div>
  );
}

/** Why values can't be asked for now. */
function hindranceNow(): string | undefined {
  if (isUnderWay()) return 'Once the report that is being made is there.';
  if (windowDays.value.length === 0 || windowDays.value.length > MAX_WINDOW_DAYS)
    return 'Once the days are right.';
  return isCallerKnown.value ? undefined : 'Once it is known who asks.';
}

function ValueList({ dimension, values, found, onChange }: Props & { readonly found: FoundValues }) {
  const { name } = dimension;
  const [search, setSearch] = useState('');
  const matching = searchValues(found.values, search);
  const drawn = matching.slice(0, MAX_DRAWN);
  return (
    <fieldset class="value-list">
      <legend>Values of {name}</legend>
      <p class="hint">Each with its share of {found.metric}.</p>
      <input
        type="search"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search"
        aria-label={`Search the values of ${name}`}
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <ul>
        {drawn.map((value, index) => (
          <li key={value.value ?? '\0'}>
            <ValueBox
              id={`value-of-${name}-${index}`}
              dimension={dimension}
              found={value}
              share={shareWords(value, found.total)}
              values={values}
              onChange={onChange}
            />
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {countWords(found, matching.length, drawn.length)}
      </p>
    </fieldset>
  );
}

/** How many there are that are not drawn. */
function countWords({ values, count }: FoundValues, matching: number, drawn: number): string {
  const kept = count > values.length ? `the ${grouped(values.length)} largest of ` : '';
  const all = `${kept}${counted(count, 'value')}`;
  if (matching === 0) return `None of ${all} matches.`;
  const searched = matching < values.length ? `${grouped(matching)} that match, of ${all}` : all;
  if (drawn < matching) return `${drawn} of ${searched}. Search for the others.`;
  return `${searched}.`;
}

function ValueBox({
  id,
  dimension,
  found,
  share,
  values,
  onChange,
}: Props & { readonly id: string; readonly found: FoundValue; readonly share: string }) {
  const { value } = found;
  const obstacle = obstacleOf(dimension, found);
  return (
    <>
      <label class="field">
        <input
          type="checkbox"
          disabled={obstacle !== undefined}
          {...(obstacle !== undefined && { 'aria-describedby': `${id}-obstacle` })}
          checked={value !== null && isChosen(dimension, values, value)}
          onChange={() => value !== null && onChange(withToggled(dimension, values, value))}
        />
        <span class={obstacle === undefined ? 'field-name' : 'field-name dim'}>{valueWords(value)}</span>{' '}
        <span class="hint">{share}</span>
      </label>
      {obstacle !== undefined && (
        <span class="hint" id={`${id}-obstacle`}>
          {obstacle}
        </span>
      )}
    </>
  );
}

/** Why a value can't be filtered by. */
function obstacleOf(dimension: ColumnDimension, { value }: FoundValue): string | undefined {
  if (value === null) return "Can't be chosen: a filter has no word for what is not known.";
  if (value === '') return "Can't be chosen: a filter's value is never empty.";
  const fault = valueFault(dimension, value);
  return fault === undefined ? undefined : `Can't be chosen: ${fault}`;
}

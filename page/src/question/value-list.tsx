import { useState } from 'preact/hooks';
import type { ColumnDimension } from '../../../lib/report/catalogue.ts';
import { counted, grouped } from '../format.ts';
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

/** The list draws at most this many values. The user finds the others by searching. */
const MAX_DRAWN = 50;

/** A filter's dimension, the filter's values, and a function that takes new values. */
export interface ValueProps {
  readonly dimension: ColumnDimension;
  /** The filter's values. */
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}

/** Lets the user search the found values and choose from them. Each value is shown with its share. */
export function ValueList(list: ValueProps & { readonly found: FoundValues }) {
  const { found } = list;
  const { name } = list.dimension;
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
            <ValueBox id={`value-of-${name}-${index}`} {...list} value={value} />
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {countWords(found, matching.length, drawn.length)}
      </p>
    </fieldset>
  );
}

/** Says how many values there are, how many match the search, and how many are drawn. */
function countWords({ values, count }: FoundValues, matching: number, drawn: number): string {
  const kept = count > values.length ? `the ${grouped(values.length)} largest of ` : '';
  const all = `${kept}${counted(count, 'value')}`;
  if (matching === 0) return `None of ${all} matches.`;
  const searched = matching < values.length ? `${grouped(matching)} that match, of ${all}` : all;
  if (drawn < matching) return `${drawn} of ${searched}. Search for the others.`;
  return `${searched}.`;
}

function ValueBox(
  box: ValueProps & { readonly id: string; readonly found: FoundValues; readonly value: FoundValue },
) {
  const { id, dimension, values, onChange } = box;
  const { value } = box.value;
  const obstacle = obstacleOf(dimension, box.value);
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
        <span class="hint">{shareWords(box.value, box.found.total)}</span>
      </label>
      {obstacle !== undefined && (
        <span class="hint" id={`${id}-obstacle`}>
          {obstacle}
        </span>
      )}
    </>
  );
}

/** Says why the user can't filter by a value; undefined if that is possible. */
function obstacleOf(dimension: ColumnDimension, { value }: FoundValue): string | undefined {
  if (value === null) return "Can't be chosen: a filter has no word for what is not known.";
  if (value === '') return "Can't be chosen: a filter's value is never empty.";
  const fault = valueFault(dimension, value);
  return fault === undefined ? undefined : `Can't be chosen: ${fault}`;
}

import { useState } from 'preact/hooks';
import { type Dimension, dimensionsOf } from '../../../lib/report/catalogue.ts';
import { filterParameter } from '../../../lib/report/filter-parameter.ts';
import { focusOn } from '../focus.ts';
import { answeredFaults, choice, choose, report } from '../state.ts';
import type { ChosenFilter } from './choice.ts';
import { Faults } from './faults.tsx';
import { FilterValueInput } from './filter-value-input.tsx';
import { FilterValues } from './filter-values.tsx';

/** Which rows count: values of dimensions. */
export function FiltersStep() {
  const { filters } = choice.value;
  const dimensions = dimensionsOf(report.value);
  const free = dimensions.filter(({ name }) => !filters.some(({ field }) => field === name));
  const add = (field: string) => {
    choose({ filters: [...filters, { field, values: [''] }] });
    focusOn(valueInput(field, 0));
  };
  const change = (index: number, values: readonly string[]) =>
    choose({
      filters:
        values.length === 0
          ? filters.toSpliced(index, 1)
          : filters.map((filter, at) => (at === index ? { ...filter, values } : filter)),
    });
  return (
    <section class="step" aria-labelledby="filters-title">
      <h2 id="filters-title">
        Filters <span class="hint">All must hold; of several values of one field, any will do.</span>
      </h2>
      {filters.map((filter, index) => (
        <Filter key={filter.field} filter={filter} onChange={(values) => change(index, values)} />
      ))}
      {free.length > 0 && <AddFilter free={free} onAdd={add} />}
    </section>
  );
}

/** Which field to filter by. A button adds it: a list that is gone through by the keyboard changes at every step. */
function AddFilter({
  free,
  onAdd,
}: {
  readonly free: readonly Dimension[];
  readonly onAdd: (field: string) => void;
}) {
  const [wanted, setWanted] = useState('');
  // Days are chosen above: rather a filter by something else.
  const first = free.find(({ type }) => type !== 'datetime') ?? free[0];
  const shown = free.find(({ name }) => name === wanted) ?? first;
  if (!shown) return null;
  return (
    <div class="add-filter">
      <label for="add-filter">Add a filter</label>
      <select
        id="add-filter"
        value={shown.name}
        onChange={({ currentTarget }) => setWanted(currentTarget.value)}
      >
        {free.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <button type="button" class="pill" aria-label="Add the filter" onClick={() => onAdd(shown.name)}>
        Add
      </button>
    </div>
  );
}

const valueId = (field: string, index: number) => `filter-${field}-${index}`;
const valueInput = (field: string, index: number) => `#${CSS.escape(valueId(field, index))}`;

function Filter({
  filter: { field: name, values },
  onChange,
}: {
  readonly filter: ChosenFilter;
  readonly onChange: (values: readonly string[]) => void;
}) {
  const dimension = dimensionsOf(report.value).find((candidate) => candidate.name === name);
  const drop = (index: number) => {
    onChange(values.toSpliced(index, 1));
    focusOn(valueInput(name, Math.max(0, index - 1)), '#add-filter');
  };
  const another = () => {
    onChange([...values, '']);
    focusOn(valueInput(name, values.length));
  };
  const isToldElsewhere = dimension === undefined || answeredFaults.value.length > 0;
  return (
    <fieldset class="filter">
      <legend>{name}</legend>
      {values.map((value, index) => (
        <FilterValueInput
          key={index}
          label={`${name}, value ${index + 1}`}
          id={valueId(name, index)}
          dimension={dimension}
          value={value}
          onInput={(text) => onChange(values.with(index, text))}
          onDrop={() => drop(index)}
        />
      ))}
      <button type="button" class="pill quiet" onClick={another} aria-label={`Another value of ${name}`}>
        + value
      </button>
      {dimension && dimension.type !== 'datetime' && (
        <FilterValues dimension={dimension} values={values} onChange={onChange} />
      )}
      {isToldElsewhere && <Faults of={filterParameter(name)} id={`filter-${name}-faults`} />}
    </fieldset>
  );
}

import { useState } from 'preact/hooks';
import { dimensionsOf, fieldOf } from '../../../lib/report/catalogue.ts';
import { filterParameter } from '../../../lib/report/filter.ts';
import { focusOn, Pill } from '../buttons.tsx';
import { answeredFaults, choice, choose, report } from '../state.ts';
import type { ChosenFilter } from './choice.ts';
import { Faults } from './fields-step.tsx';
import { FilterValueInput } from './filter-value-input.tsx';
import { FilterValues } from './filter-values.tsx';
import { freeFilters } from './free-filters.ts';

/** The inputs for the filters. The report adds up only rows that pass every filter. */
export function FiltersStep() {
  const { filters } = choice.value;
  const free = freeFilters(report.value, filters);
  const add = (filter: ChosenFilter) => {
    choose({ filters: [...filters, filter] });
    focusOn(valueInput(filter, 0));
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

/**
 * The inputs that add a filter. A button adds it, because a select changes its value at every step of the arrow keys.
 */
function AddFilter({
  free,
  onAdd,
}: {
  readonly free: readonly ChosenFilter[];
  readonly onAdd: (filter: ChosenFilter) => void;
}) {
  const [wanted, setWanted] = useState('');
  // Suggests a filter that is not by time, because the user chooses days in another part of the form.
  const isOfTime = (name: string) => fieldOf(report.value, name)?.type === 'datetime';
  const first = free.find(({ field }) => !isOfTime(field)) ?? free[0];
  const shown = free.find(({ field }) => field === wanted) ?? first;
  if (!shown) return null;
  return (
    <div class="add-filter">
      <label for="add-filter">Add a filter</label>
      <select
        id="add-filter"
        value={shown.field}
        onChange={({ currentTarget }) => setWanted(currentTarget.value)}
      >
        {free.map((filter) => (
          <option key={filter.field} value={filter.field}>
            {filter.field}
          </option>
        ))}
      </select>
      <Pill aria-label="Add the filter" onClick={() => onAdd(shown)}>
        Add
      </Pill>
    </div>
  );
}

const valueId = ({ field }: ChosenFilter, index: number) => `filter-${field}-${index}`;
const valueInput = (filter: ChosenFilter, index: number) => `#${CSS.escape(valueId(filter, index))}`;

function Filter({
  filter,
  onChange,
}: {
  readonly filter: ChosenFilter;
  readonly onChange: (values: readonly string[]) => void;
}) {
  const { field, values } = filter;
  const dimension = dimensionsOf(report.value).find(({ name }) => name === field);
  const drop = (index: number) => {
    onChange(values.toSpliced(index, 1));
    focusOn(valueInput(filter, Math.max(0, index - 1)), '#add-filter');
  };
  const another = () => {
    onChange([...values, '']);
    focusOn(valueInput(filter, values.length));
  };
  const isToldElsewhere = dimension === undefined || answeredFaults.value.length > 0;
  return (
    <fieldset class="filter">
      <legend>{field}</legend>
      {values.map((value, index) => (
        <FilterValueInput
          key={index}
          label={`${field}, value ${index + 1}`}
          id={valueId(filter, index)}
          dimension={dimension}
          value={value}
          onInput={(text) => onChange(values.with(index, text))}
          onDrop={() => drop(index)}
        />
      ))}
      <Pill class="pill quiet" onClick={another} aria-label={`Another value of ${field}`}>
        + value
      </Pill>
      {dimension && dimension.type !== 'datetime' && (
        <FilterValues dimension={dimension} values={values} onChange={onChange} />
      )}
      {isToldElsewhere && <Faults of={filterParameter(field)} id={`filter-${field}-faults`} />}
    </fieldset>
  );
}

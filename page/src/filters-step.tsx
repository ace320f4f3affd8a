import * as v from 'valibot';
import type { Dimension } from '../../lib/report/catalogue.ts';
import { filterValueSchema } from '../../lib/report/filter-value.ts';
import type { ChosenFilter } from './choice.ts';
import { Faults } from './faults.tsx';
import { focusOn } from './focus.ts';
import { answeredFaults, choice, choose, isAsked, report } from './state.ts';

/** Which rows count: values of dimensions. */
export function FiltersStep() {
  const { filters } = choice.value;
  const dimensions = Object.entries(report.value.fields).filter(([, { role }]) => role === 'dimension');
  const free = dimensions.filter(([name]) => !filters.some(({ field }) => field === name));
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
      {free.length > 0 && (
        <fieldset class="add-filter">
          <legend class="visually-hidden">Add a filter</legend>
          {free.map(([name]) => (
            <button
              key={name}
              type="button"
              class="pill quiet"
              aria-label={`Filter by ${name}`}
              onClick={() => add(name)}
            >
              + {name}
            </button>
          ))}
        </fieldset>
      )}
    </section>
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
  const known = report.value.fields[name];
  const dimension = known?.role === 'dimension' ? known : undefined;
  const drop = (index: number) => {
    onChange(values.toSpliced(index, 1));
    focusOn(valueInput(name, Math.max(0, index - 1)), '.add-filter button');
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
        <Value
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
      {isToldElsewhere && <Faults of={`filter[${name}]`} id={`filter-${name}-faults`} />}
    </fieldset>
  );
}

function Value({
  label,
  id,
  dimension,
  value,
  onInput,
  onDrop,
}: {
  readonly label: string;
  readonly id: string;
  readonly dimension: Dimension | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onDrop: () => void;
}) {
  const fault = dimension ? faultOf(dimension, value) : undefined;
  // An input that nobody has filled in yet is not wrong, until the report is asked for.
  const isShown = fault !== undefined && (value !== '' || isAsked.value);
  return (
    <div class="value">
      <input
        {...inputFor(dimension, value, onInput)}
        id={id}
        aria-label={label}
        {...(isShown && { 'aria-invalid': true, 'aria-describedby': `${id}-fault` })}
      />
      <button type="button" class="icon" aria-label={`Drop ${label}`} onClick={onDrop}>
        ×
      </button>
      {isShown && (
        <p class="faults" id={`${id}-fault`} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

/** What the service would say of one value. */
function faultOf(dimension: Dimension, value: string): string | undefined {
  const result = v.safeParse(filterValueSchema(dimension), value);
  return result.success ? undefined : result.issues[0].message;
}

/** The input that fits a dimension's type, and how its text becomes a value. */
function inputFor(dimension: Dimension | undefined, value: string, onInput: (value: string) => void) {
  const heard = (toValue: (text: string) => string) => (event: { currentTarget: HTMLInputElement }) =>
    onInput(toValue(event.currentTarget.value));
  if (dimension?.type === 'datetime' && dimension.grain === 'day')
    return {
      type: 'date',
      value: value.slice(0, 10),
      onInput: heard((text) => (text === '' ? '' : `${text}T00:00:00Z`)),
    } as const;
  if (dimension?.type === 'datetime')
    return {
      type: 'datetime-local',
      step: 3_600,
      value: value.slice(0, 16),
      onInput: heard((text) => (text === '' ? '' : `${text.slice(0, 16)}:00Z`)),
    } as const;
  if (dimension?.type === 'integer')
    return {
      type: 'text',
      inputMode: 'numeric',
      autocomplete: 'off',
      value,
      onInput: heard((text) => text.trim()),
    } as const;
  return {
    type: 'text',
    autocomplete: 'off',
    spellcheck: false,
    value,
    onInput: heard((text) => text),
  } as const;
}

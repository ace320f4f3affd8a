import { signal } from '@preact/signals';
import type { ButtonHTMLAttributes } from 'preact';
import { type Field, fieldOf, metricsOf, type Report } from '../../../lib/report/catalogue.ts';
import { called, focusOn } from '../buttons.tsx';
import { levelOf } from '../levels.ts';
import { choice, choose, currency, days, faultsAt, report } from '../state.ts';
import { faultWords } from './fault-words.ts';

/** The faults of a parameter, in the page's words. */
const wordsAt = (parameter: string): readonly string[] =>
  faultsAt(parameter).map((detail) =>
    faultWords({ parameter, detail }, { fields: choice.value.fields, days: days.value }),
  );

/** Shows the faults of a parameter, below its input. */
export function Faults({ of, id }: { readonly of: string; readonly id: string }) {
  const words = wordsAt(of);
  if (words.length === 0) return null;
  return (
    <div class="faults" id={id} role="alert">
      {words.map((fault) => (
        <p key={fault}>{fault}</p>
      ))}
    </div>
  );
}

/** Whether the list of columns is open. While it is closed, keyboard users do not have to pass its buttons. */
const isOrderOpen = signal(false);

const GROUPS = [
  { role: 'dimension', title: 'Dimensions', hint: 'Rows are grouped by each one that you pick.' },
  { role: 'metric', title: 'Metrics', hint: 'Added up for each row.' },
] as const;

/** Adds a field to the fields. A dimension goes before the metrics, a metric to the end. */
function withField(fields: readonly string[], name: string, known: Report): string[] {
  const metrics = metricsOf(known).map((metric) => metric.name);
  if (metrics.includes(name)) return [...fields, name];
  const firstMetric = fields.findIndex((field) => metrics.includes(field));
  return firstMetric === -1 ? [...fields, name] : fields.toSpliced(firstMetric, 0, name);
}

/** The inputs that choose the fields and their order. */
export function FieldsStep() {
  const { fields } = choice.value;
  const known = report.value;
  const toggle = (name: string) =>
    choose({
      fields: fields.includes(name)
        ? fields.filter((field) => field !== name)
        : withField(fields, name, known),
    });
  return (
    <section class="step" aria-labelledby="fields-title">
      <h2 id="fields-title">Fields</h2>
      <div class="field-groups">
        {GROUPS.map(({ role, title, hint }) => (
          <fieldset key={role}>
            <legend>
              {title} <span class="hint">{hint}</span>
            </legend>
            {known.fields
              .filter((field) => field.role === role)
              .map((field) => (
                <label key={field.name} class="field">
                  <input
                    type="checkbox"
                    checked={fields.includes(field.name)}
                    onChange={() => toggle(field.name)}
                  />
                  <span class="field-name">{field.name}</span>
                  <span class="hint">{meaningOf(field, fields)}</span>
                </label>
              ))}
          </fieldset>
        ))}
      </div>
      <Columns />
      <Faults of="requestedFields" id="fields-faults" />
    </section>
  );
}

function meaningOf(field: Field, fields: readonly string[]): string {
  const { meaning } = field;
  if (field.role === 'dimension') return meaning;
  const level = levelOf(field, fields);
  if (level !== undefined) return `${meaning}, by ${level}`;
  return field.type === 'float' && currency.value !== '' ? `${meaning}, ${currency.value}` : meaning;
}

/** Lists the columns in the file's order. The user can move and drop each column. */
function Columns() {
  const { fields } = choice.value;
  if (fields.length === 0) return null;
  // Only this list shows a field that the report does not have. If there is such a field, the list is open, so that
  // the user can drop the field.
  const isUnknownThere = fields.some((name) => fieldOf(report.value, name) === undefined);
  const move = (name: string, by: -1 | 1) => {
    const index = fields.indexOf(name);
    choose({ fields: fields.toSpliced(index, 1).toSpliced(index + by, 0, name) });
    const [there, back] = by < 0 ? ['left', 'right'] : ['right', 'left'];
    focusOn(called(`Move ${name} ${there}`), called(`Move ${name} ${back}`));
  };
  const drop = (name: string) => {
    const next = fields[fields.indexOf(name) + 1] ?? fields.at(-2);
    choose({ fields: fields.filter((field) => field !== name) });
    focusOn(called(`Drop ${next}`), '.field input');
  };
  return (
    <details
      class="columns"
      open={isOrderOpen.value || isUnknownThere}
      onToggle={({ currentTarget }) => {
        isOrderOpen.value = currentTarget.open;
      }}
    >
      <summary>Order of columns</summary>
      <ol aria-label="Order of columns">
        {fields.map((name, index) => (
          <li key={name} class="chip">
            <ColumnButton
              aria-label={`Move ${name} left`}
              sign="‹"
              disabled={index === 0}
              onClick={() => move(name, -1)}
            />
            <span>{name}</span>
            <ColumnButton
              aria-label={`Move ${name} right`}
              sign="›"
              disabled={index === fields.length - 1}
              onClick={() => move(name, 1)}
            />
            <ColumnButton aria-label={`Drop ${name}`} sign="×" onClick={() => drop(name)} />
          </li>
        ))}
      </ol>
    </details>
  );
}

const ColumnButton = ({ sign, ...button }: ButtonHTMLAttributes & { readonly sign: string }) => (
  <button type="button" {...button}>
    {sign}
  </button>
);

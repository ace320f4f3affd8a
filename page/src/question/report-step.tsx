import { reports } from '../../../lib/report/catalogue.ts';
import { choice, choose } from '../state.ts';
import { firstChoice } from './choice.ts';
import { shortTitle } from './question-words.ts';

/** The inputs that choose the report. Another report begins with its own first fields and with no filters. */
export function ReportStep() {
  const select = (name: string) => {
    const next = firstChoice(name);
    choose({ report: name, fields: next.fields, filters: [] });
  };
  return (
    <fieldset class="step">
      <legend>Report</legend>
      <div class="segments">
        {reports.map(({ name, title }) => (
          <label key={name} class="segment">
            <input
              type="radio"
              name="report"
              checked={choice.value.report === name}
              onChange={() => select(name)}
            />
            <span>{shortTitle(title)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

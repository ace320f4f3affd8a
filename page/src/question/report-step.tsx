import { reports } from '../../../lib/report/catalogue.ts';
import { choice, choose } from '../state.ts';
import { firstChoice } from './choice.ts';
import { shortTitle } from './question-words.ts';

/** Chooses a report. Another report begins with its own first fields and with no filters. */
export const chooseReport = (name: string) =>
  choose({ report: name, fields: firstChoice(name).fields, filters: [] });

/** The inputs that choose the report. */
export function ReportStep() {
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
              onChange={() => chooseReport(name)}
            />
            <span>{shortTitle(title)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

import { choice, choose } from '../state.ts';
import { COMPARISONS, type Comparison } from './choice.ts';

/** The inputs that choose which other days the report is compared with. */
export function CompareStep() {
  return (
    <fieldset class="step">
      <legend>Compare with</legend>
      <div class="choices">
        {(Object.keys(COMPARISONS) as Comparison[]).map((comparison) => (
          <label key={comparison} class="choice">
            <input
              type="radio"
              name="compare"
              checked={choice.value.compare === comparison}
              onChange={() => choose({ compare: comparison })}
            />
            <span>{COMPARISONS[comparison]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

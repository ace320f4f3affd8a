import { choice, days, faultsAt } from '../state.ts';
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

import { otherClient } from '../address.ts';
import { focusOn, Pill } from '../buttons.tsx';
import { choice, days, isBuilderOpen } from '../state.ts';
import { chosenCaller } from './caller.ts';
import { questionWords } from './question-words.ts';

/** Shows the question in one line, with a button to change it. */
export function QuestionLine() {
  const isOpen = isBuilderOpen.value;
  return (
    <section class="question" aria-label="The question">
      <p>
        {questionWords(choice.value, days.value)}
        {otherClient.value !== undefined && (
          <span class="faults">
            {' '}
            This link was made as {otherClient.value}. You ask as {chosenCaller().id || 'another client'}, and
            may see other rows and other numbers.
          </span>
        )}
      </p>
      <Pill
        aria-expanded={isOpen}
        aria-controls="builder"
        onClick={() => {
          isBuilderOpen.value = !isOpen;
          if (!isOpen) focusOn('#builder');
        }}
      >
        {isOpen ? 'Fold' : 'Change'}
      </Pill>
    </section>
  );
}

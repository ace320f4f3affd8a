import { shortTitle } from '../question/question-words.ts';
import { run } from '../run.ts';

const PAGE = 'Performance reports';

/** Shows the state of the run in the window's title, because people wait in another tab. */
export function tellTitle(): void {
  const now = run.value;
  const words =
    now &&
    { waiting: 'Waiting', reading: 'Reading', done: 'Ready', 'too-large': 'Ready', failed: 'No report' }[
      now.phase
    ];
  document.title = now && words ? `${words}: ${shortTitle(now.title)} – ${PAGE}` : PAGE;
}

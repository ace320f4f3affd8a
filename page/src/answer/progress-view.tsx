import { useEffect, useState } from 'preact/hooks';
import { focusOn, Pill } from '../buttons.tsx';
import { counted, fileSize } from '../format.ts';
import { cancelRun, type Run } from '../run.ts';
import { serviceFacts } from '../service-facts.ts';
import { isBuilderOpen } from '../state.ts';
import { waitingWords } from './failure-words.ts';

/** The present time by `performance.now()`, again and again. */
export function useNow(): number {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Shows a progress bar and the seconds waited. The seconds are hidden from screen readers. */
export function Waiting({ startedAt }: { readonly startedAt: number }) {
  const now = useNow();
  return (
    <div class="waiting">
      <progress aria-label="The report is being made" />
      <span aria-hidden="true">{waitingWords(now - startedAt, serviceFacts.value.longestReportSeconds)}</span>
      <Cancel />
    </div>
  );
}

function Cancel() {
  return (
    <Pill
      onClick={() => {
        cancelRun();
        // This button disappears. The focus moves to the Run button, so that the user can ask another question.
        isBuilderOpen.value = true;
        focusOn('.run-bar button');
      }}
    >
      Cancel
    </Pill>
  );
}

export function ReadingBar({ run: { reading } }: { readonly run: Run }) {
  if (!reading) return <progress aria-label="Reading the report" />;
  const { rowCount, bytes, totalBytes } = reading;
  return (
    <div class="waiting">
      <progress aria-label="Reading the report" {...(totalBytes && { value: bytes, max: totalBytes })} />
      <span aria-hidden="true">
        {counted(rowCount, 'row')}, {fileSize(bytes)}
        {totalBytes ? ` of ${fileSize(totalBytes)}` : ''}
      </span>
      <Cancel />
    </div>
  );
}

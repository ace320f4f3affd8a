import { MAX_WINDOW_DAYS } from '../../lib/report/parse-request.ts';
import { type DayState, stateOf, toldDays } from './day-states.ts';
import { Faults, faultAttributes } from './faults.tsx';
import { counted } from './format.ts';
import { addDays, PRESETS, type Preset } from './presets.ts';
import { choice, choose, days, newestDay, report, today, windowDays } from './state.ts';

const WORDS: Readonly<Record<DayState, string>> = {
  final: 'final',
  open: 'open: more events may come',
  unknown: 'not known whether final',
  missing: 'without events',
};

/** Which days: by a preset, or from one day to another. */
export function WindowStep() {
  const { first, last } = days.value;
  const yesterday = addDays(today.value, -1);
  const isBehind = newestDay.value !== undefined && newestDay.value < yesterday;
  const presets = (Object.keys(PRESETS) as Preset[]).filter((preset) => preset !== 'latest' || isBehind);
  const isChosen = (preset: Preset) => {
    if (choice.value.window === preset) return true;
    // Where the events are up to date, the latest seven days are the last seven.
    return preset === 'last-7-days' && choice.value.window === 'latest' && !isBehind;
  };
  return (
    <section class="step" aria-labelledby="window-title">
      <h2 id="window-title">
        Days{' '}
        <span class="hint">
          UTC,{' '}
          {windowDays.value.length > MAX_WINDOW_DAYS
            ? `more than the ${MAX_WINDOW_DAYS} that a report may have`
            : `${windowDays.value.length} of at most ${MAX_WINDOW_DAYS}`}
        </span>
      </h2>
      <fieldset class="presets">
        <legend class="visually-hidden">Presets</legend>
        {presets.map((preset) => (
          <button
            key={preset}
            type="button"
            class="pill"
            aria-pressed={isChosen(preset)}
            onClick={() => choose({ window: preset })}
          >
            {PRESETS[preset]}
          </button>
        ))}
      </fieldset>
      <div class="dates">
        <label>
          First day
          <input
            type="date"
            value={first}
            {...faultAttributes('startInclusive', 'start-faults')}
            onInput={({ currentTarget }) => choose({ window: { first: currentTarget.value, last } })}
          />
        </label>
        <label>
          Last day
          <input
            type="date"
            value={last}
            {...faultAttributes('endExclusive', 'end-faults')}
            onInput={({ currentTarget }) => choose({ window: { first, last: currentTarget.value } })}
          />
        </label>
      </div>
      <Faults of="startInclusive" id="start-faults" />
      <Faults of="endExclusive" id="end-faults" />
      <DayStrip />
    </section>
  );
}

/** The days of the window, each as it stands. */
function DayStrip() {
  const shown = windowDays.value.slice(0, MAX_WINDOW_DAYS);
  const states = shown.map((day) => stateOf(toldDays.value, report.value.name, day));
  if (shown.length === 0 || states.every((state) => state === undefined)) return null;
  const groups = (Object.keys(WORDS) as DayState[]).flatMap((state) => {
    const those = shown.filter((_, index) => states[index] === state);
    return those.length > 0 ? [{ state, those }] : [];
  });
  return (
    <div class="days">
      <div class="day-strip" aria-hidden="true">
        {shown.map((day, index) => (
          <span
            key={day}
            class={`day ${states[index] ?? 'untold'}`}
            title={`${day}: ${WORDS[states[index] ?? 'unknown']}`}
          >
            {Number(day.slice(8))}
          </span>
        ))}
      </div>
      <ul class="day-words">
        {groups.map(({ state, those }) => (
          <li key={state}>
            <span class={`swatch ${state}`} aria-hidden="true" />
            {counted(those.length, 'day')} {WORDS[state]}
            {state !== 'final' && those.length <= 3 ? `: ${those.join(', ')}` : ''}
          </li>
        ))}
      </ul>
    </div>
  );
}

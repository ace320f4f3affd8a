import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { counted } from '../format.ts';
import { serviceFacts } from '../service-facts.ts';
import { choice, choose, days, faults, newestDay, report, today, windowDays } from '../state.ts';
import { COMPARISONS, type Comparison } from './choice.ts';
import { DayInput } from './day-input.tsx';
import { listedDays, stateOf } from './day-states.ts';
import { faultWords, faultyDays } from './fault-words.ts';
import { addDays, PRESETS, type Preset } from './presets.ts';
import { type DayState, expectedAt, promiseWords } from './told-day.ts';

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

const WORDS: Readonly<Record<DayState, string>> = {
  final: 'final',
  open: 'open: more events may come',
  unknown: 'not known whether final',
  missing: 'without events',
};

/** The inputs that choose the days: by a preset, or by a first and a last day. */
export function WindowStep() {
  const yesterday = addDays(today.value, -1);
  const isBehind = newestDay.value !== undefined && newestDay.value < yesterday;
  const presets = (Object.keys(PRESETS) as Preset[]).filter((preset) => preset !== 'latest' || isBehind);
  const isChosen = (preset: Preset) => {
    if (choice.value.window === preset) return true;
    // If the events are up to date, `latest` means the last seven days and is not offered. `last-7-days` then looks
    // chosen in its place.
    return preset === 'last-7-days' && choice.value.window === 'latest' && !isBehind;
  };
  const told = windowFaults();
  const idsOf = (input: 'first' | 'last') =>
    told.filter(({ inputs }) => inputs.includes(input)).map(({ id }) => id);
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
      {/* The Tab key stops once at the presets. The arrow keys go from preset to preset. */}
      <fieldset class="presets">
        <legend class="visually-hidden">Presets</legend>
        {presets.map((preset) => (
          <label key={preset} class="pill">
            <input
              type="radio"
              name="preset"
              checked={isChosen(preset)}
              onChange={() => choose({ window: preset })}
            />
            {PRESETS[preset]}
          </label>
        ))}
      </fieldset>
      <div class="dates">
        {(['first', 'last'] as const).map((which) => (
          <div key={which}>
            <label for={`${which}-day`}>{which === 'first' ? 'First day' : 'Last day'}</label>
            <DayInput
              id={`${which}-day`}
              calendar={`Choose the ${which} day from a calendar`}
              day={days.value[which]}
              faultIds={idsOf(which)}
              onDay={(day) => choose({ window: { ...days.value, [which]: day } })}
            />
          </div>
        ))}
      </div>
      {told.length > 0 && (
        <div class="faults" role="alert">
          {told.map(({ id, words }) => (
            <p key={id} id={id}>
              {words}
            </p>
          ))}
        </div>
      )}
      <DayStrip />
    </section>
  );
}

/** The faults of the days, each with its inputs. A fault of both inputs is listed once. */
function windowFaults() {
  const context = { fields: choice.value.fields, days: days.value };
  return faults.value.flatMap((fault, index) => {
    const inputs = faultyDays(fault, days.value);
    return inputs.length > 0
      ? [{ id: `days-fault-${index}`, inputs, words: faultWords(fault, context) }]
      : [];
  });
}

/** Shows the days of the window, each with its state. */
function DayStrip() {
  const shown = windowDays.value.slice(0, MAX_WINDOW_DAYS);
  const states = shown.map((day) => stateOf(listedDays.value, report.value.name, day));
  if (shown.length === 0 || states.every((state) => state === undefined)) return null;
  const groups = (Object.keys(WORDS) as DayState[]).flatMap((state) => {
    const those = shown.filter((_, index) => states[index] === state);
    return those.length > 0 ? [{ state, those }] : [];
  });
  const promised = {
    days: listedDays.value?.days,
    newest: newestDay.value,
    finalAfterHours: serviceFacts.value.finalAfterHours,
  };
  const withPromise = (day: string) => day + promiseWords(expectedAt(day, promised), Date.now());
  return (
    <div class="days">
      <div class="day-strip" aria-hidden="true">
        {shown.map((day, index) => (
          <span
            key={day}
            class={`day ${states[index] ?? 'untold'}`}
            title={`${withPromise(day)}: ${WORDS[states[index] ?? 'unknown']}`}
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
            {state !== 'final' && those.length <= 3 ? `: ${those.map(withPromise).join(', ')}` : ''}
          </li>
        ))}
      </ul>
    </div>
  );
}

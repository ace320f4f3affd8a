import type { Reason } from './exact-value.ts';
import { saysMissing } from './number-faults.ts';
import { TIME_UNITS, type TimeUnit } from './time-units.ts';
import { changeAround, offsetOf, wallClock, type ZoneClocks } from './time-zone.ts';

/** The fault of a record without a time. */
export function missingTime(x: string, found: string): Reason {
  const isMissing = { VARCHAR: ` OR trim(${x}) = '' OR ${saysMissing(x)}`, DOUBLE: ` OR isnan(${x})` }[found];
  return {
    when: `${x} IS NULL${isMissing ?? ''}`,
    loss: 'is missing. Fill it in at the source; nobody else can know it',
  };
}

/** The fault of a number that is no time in any unit. */
export function noUnit(when: string, decided: TimeUnit | undefined): Reason {
  const units = Object.keys(TIME_UNITS);
  return {
    when,
    loss: decided
      ? `is not between 1970 and 9999 if it counts ${decided}. Give another --time-unit, or correct it at the source`
      : `is not between 2000 and May 2033, whether it counts ${units.slice(0, -1).join(', ')} or ${units.at(-1)} since 1970. Say what it counts: --time-unit ${units.join('|')}; or write times like 2026-01-31T23:59:59Z`,
  };
}

/** The faults of local times that do not exist, or occur twice, because the clocks change. */
export function localFaults(local: string, clocks: ZoneClocks): Reason[] {
  const clockAt = (example: string) => {
    const text = example.trim().replace(' ', 'T');
    const change = changeAround(clocks, Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`));
    if (!change) return clocks.zone;
    const { at, before, after } = change;
    return `${clocks.zone}, where clocks went ${after > before ? 'forward' : 'back'} from ${wallClock(at + before)} to ${wallClock(at + after)}`;
  };
  return [
    {
      when: `${local} IS NOT NULL AND ${offsetOf(local, clocks, 'earlier')} IS NULL`,
      loss: (example) =>
        `does not exist in ${clockAt(example)}. Correct it at the source, or say another --time-zone`,
    },
    {
      when: `${local} IS NOT NULL AND ${offsetOf(local, clocks)} IS NULL`,
      loss: (example) =>
        `comes twice in ${clockAt(example)}. Write the offset at the source, or say which is meant: --ambiguous earlier or --ambiguous later`,
    },
  ];
}

/** The remaining faults of a time. @param time SQL for the instant, which is NULL if the value gives none */
export const otherFaults = (time: string): Reason[] => [
  { when: `${time} IS NOT NULL`, loss: 'is before 1970 or after 9999. Correct it at the source' },
  {
    when: 'true',
    loss: 'is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so at the source',
  },
];

import { describe, expect, it } from 'vitest';
import { dataState } from '../../../lib/lake/data-version.ts';
import { dayStates } from '../../../lib/lake/day-states.ts';
import { lakeObject } from '../delivery/memory-lake.ts';

const FOLDER = 'publisher_events/';
const at = (path: string) => lakeObject(FOLDER + path);
const file = (day: string) => at(`day=${day}/a.parquet`);
const marker = (day: string) => at(`day=${day}/_SUCCESS`);
const window = { start: Date.parse('2026-02-01T12:00:00Z'), end: Date.parse('2026-02-04T00:00:00Z') };
/** The objects of days of 2026: `02-01` has a file, `02-01!` a marker too, and `!02-01` only a marker. */
const objectsOf = (days: string) =>
  days.split(' ').flatMap((text) => {
    const day = `2026-${text.replace('!', '')}`;
    return [...(text.startsWith('!') ? [] : [file(day)]), ...(text.includes('!') ? [marker(day)] : [])];
  });

describe('dayStates', () => {
  it.each([
    ['a day with a marker is final', '02-01! 02-02 02-03!', '02-01 final, 02-02 open, 02-03 final'],
    ['days are unknown if no day of the lake is marked', '02-01 02-02', '02-01 unknown, 02-02 unknown'],
    ['a day is open if only days before the window are marked', '01-15! 02-01', '02-01 open'],
    ['a day is open if a day without files is marked', '!01-15 02-01', '02-01 open'],
    ['days without events or before the window are left out', '01-31 !02-01 02-02', '02-02 open'],
  ])('tells the states of days: %s', (_, days, states) => {
    const lines = dayStates(objectsOf(days), FOLDER, window).map(({ day, state }) => `${day} ${state}`);
    expect(lines.join(', ').replaceAll('2026-', '')).toBe(states);
  });

  it('gives each day the version that a report on this day has; files of other days do not change it', () => {
    const ofDay = [file('2026-02-02'), at('day=2026-02-02/b.parquet')];
    const version = dataState({ objects: ofDay, listedAt: 7 }, FOLDER).version;
    const [, day] = dayStates([file('2026-02-01'), ...ofDay, marker('2026-02-02')], FOLDER, window);
    const [startInclusive, endExclusive] = ['2026-02-02T00:00:00Z', '2026-02-03T00:00:00Z'];
    expect(day).toEqual({ day: '2026-02-02', startInclusive, endExclusive, state: 'final', version });
    // Partners store versions: the same files must give the same version after every change of this code.
    expect(version).toBe('ca6bf002a3de43758fcfda87107f7107');
  });

  it('reads each object no more often for 400 days than for 40 days', () => {
    const readsPerObject = (days: number) => {
      let reads = 0;
      const objects = Array.from({ length: days * 10 }, (_, nth) => {
        const day = new Date(window.start + Math.floor(nth / 10) * 86_400_000).toISOString().slice(0, 10);
        const { key, ...more } = at(`day=${day}/${nth % 10}.parquet`);
        return {
          ...more,
          get key() {
            reads += 1;
            return key;
          },
        };
      });
      expect(dayStates(objects, FOLDER, window)).toHaveLength(days);
      return reads / objects.length;
    };
    expect(readsPerObject(400)).toBeCloseTo(readsPerObject(40), 0);
  });
});

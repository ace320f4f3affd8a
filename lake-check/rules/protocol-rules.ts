import { inTables, type Rule } from '../finding.ts';
import { dayFolder, SUCCESS_MARKER } from '../layout.ts';

/** Finds files that were written after the marker: the day was called complete, and then changed. */
const noWritesAfterMarker = inTables(({ table, days }) =>
  days.flatMap(({ day, files, succeededAt = Infinity }) => {
    const later = files.filter(({ modifiedAt }) => modifiedAt > succeededAt);
    if (later.length === 0) return [];
    return {
      severity: 'warning',
      paths: later.map(({ path }) => path),
      found: `they were written after the day's ${SUCCESS_MARKER}: a partner may have pulled the day as final before`,
      needed: `${SUCCESS_MARKER} is removed first and put last, whenever a day is written again`,
      cure: `Once the day is whole, remove ${dayFolder(table.name, day)}/${SUCCESS_MARKER} and put it again.`,
    };
  }),
);

/** Finds days that have no marker, although a later day has one. Such a gap is rarely meant. */
const pastDaysAreFinal = inTables(({ table, days }) => {
  const lastFinal = days.findLast(({ succeededAt }) => succeededAt !== undefined)?.day ?? '';
  const open = days.filter(({ day, succeededAt }) => succeededAt === undefined && day < lastFinal);
  return (
    open.length > 0 && {
      severity: 'warning',
      paths: open.map(({ day }) => `${dayFolder(table.name, day)}/`),
      found: `no ${SUCCESS_MARKER}, though later days have one: partners are told that the day is open`,
      needed: `${SUCCESS_MARKER} in every day that is complete`,
      cure: 'Where a day is complete, put an empty file of this name there. Where a writer was killed, write the day again.',
    }
  );
});

const DAY_MS = 86_400_000;

const daysFollowEachOther = inTables(({ table, days }) => {
  const gaps = days.flatMap(({ day }, index) => {
    const before = days[index - 1]?.day;
    const missing = before ? (Date.parse(day) - Date.parse(before)) / DAY_MS - 1 : 0;
    return missing > 0 ? [`${missing} between ${before} and ${day}`] : [];
  });
  return (
    gaps.length > 0 && {
      severity: 'advice',
      paths: [`${table.name}/`],
      found: `days without events: ${gaps.slice(0, 5).join(', ')}${gaps.length > 5 ? ' and more' : ''}`,
      needed: 'every day that has events',
      cure: 'If the source has events there, convert them. If not, do nothing.',
    }
  );
});

export const protocolRules: readonly Rule[] = [noWritesAfterMarker, pastDaysAreFinal, daysFollowEachOther];

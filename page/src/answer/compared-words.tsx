import { counted, listed } from '../format.ts';
import { type ComparedDays, hasOtherWeekday } from '../question/compare.ts';
import { withWeekday } from '../question/presets.ts';

const SHOWN_DAYS = 4;

/** Says which days are compared with each other, which days are left out, and why. */
export function ComparedWords({
  compared: { pairs, leftOut, isUntold },
}: {
  readonly compared: ComparedDays;
}) {
  const [first, last] = [pairs[0], pairs.at(-1)];
  const why = (['no data', 'open'] as const).flatMap((reason) => {
    const those = leftOut.filter((pair) => pair.why === reason);
    if (those.length === 0) return [];
    const days = those.map(({ day, before }) => `${day} against ${before}`);
    return [`${reason === 'open' ? 'a day is open' : 'a day has no data'}: ${listed(days, SHOWN_DAYS)}`];
  });
  return (
    <div class="compared">
      <p>
        {first && last
          ? `${counted(pairs.length, 'day')} against as many: ${spanOf(first.day, last.day)} with ${spanOf(first.before, last.before)}.`
          : 'There is no data to compare with: this is the report alone.'}
        {pairs.some(hasOtherWeekday) &&
          ' The weekdays differ: a change may be that of the weekdays. Compare with the same weekdays.'}
        {why.length > 0 && ` Left out on both sides, since ${why.join('; ')}.`}
        {first && why.length > 0 && ' The file to download is of the days that are compared.'}
        {isUntold && ' Whether days are open or have no data could not be found out.'}
      </p>
      {first && (
        <details>
          <summary>Which day is beside which</summary>
          <ul>
            {pairs.map(({ day, before }) => (
              <li key={day}>
                {withWeekday(day)} beside {withWeekday(before)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const spanOf = (first: string, last: string): string =>
  first === last ? withWeekday(first) : `${withWeekday(first)} to ${withWeekday(last)}`;

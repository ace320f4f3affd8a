import { counted } from '../format.ts';
import type { ComparedDays } from '../question/compare.ts';

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
    const days = those.slice(0, SHOWN_DAYS).map(({ day, before }) => `${day} against ${before}`);
    const more =
      those.length > SHOWN_DAYS ? ` and ${counted(those.length - SHOWN_DAYS, 'more', 'more')}` : '';
    return [`${reason === 'open' ? 'a day is open' : 'a day has no data'}: ${days.join(', ')}${more}`];
  });
  return (
    <p class="compared">
      {first && last
        ? `${counted(pairs.length, 'day')} against as many: ${first.day} to ${last.day} with ${first.before} to ${last.before}.`
        : 'There is no data to compare with: this is the report alone.'}
      {why.length > 0 && ` Left out on both sides, since ${why.join('; ')}.`}
      {first && why.length > 0 && ' The file to download is of the days that are compared.'}
      {isUntold && ' Whether days are open or have no data could not be found out.'}
    </p>
  );
}

/** `1 day`, `1,200 days`; a word that takes more than an "s" gives its plural: `1 company`, `2 companies`. */
export const counted = (count: number, thing: string, things = `${thing}s`): string =>
  `${grouped(count)} ${count === 1 ? thing : things}`;

/** `1,200`. By hand: `toLocaleString` takes 20 ms when it is first called, a tenth of a small lake's check. */
const grouped = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

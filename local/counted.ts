/** `1 day`, `1,200 days`; a word that takes more than an "s" gives its plural: `1 company`, `2 companies`. */
export const counted = (count: number, thing: string, things = `${thing}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? thing : things}`;

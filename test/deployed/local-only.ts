/**
 * The end-to-end cases that can't run against a deployed stage, by the beginning of their full names, and why. All of
 * them run against the one-machine stack by `npm test`.
 */
export const localOnly: readonly { readonly test: string; readonly reason: string }[] = [
  { test: 'nothing', reason: '' },
];

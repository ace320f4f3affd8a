/**
 * The end-to-end cases that can't run against a deployed stage, by the beginning of their full names, and why. All of
 * them run against the one-machine stack by `npm test`.
 */
export const localOnly: readonly { readonly test: string; readonly reason: string }[] = [
  {
    test: 'a partner that asks for more reports at once than its share > gets all of them by plain GETs',
    reason: 'It asks Athena itself what ran at one time, with keys of this machine.',
  },
  {
    test: 'a partner that asks for more reports at once than its share > gets the next one although the function was killed',
    reason: 'The emulator takes a process that has died for one that works, until the function’s time is up.',
  },
  {
    test: 'identical requests > are each queried where the lake can not be listed',
    reason: 'A deployed stage always has an events bucket.',
  },
  {
    test: 'identical requests > share one query while it is under way',
    reason: 'So many requests at once are as many processes in the emulator; joined.test.ts has ten.',
  },
  {
    test: 'the answer to a bad request > is 404 where a slash stands at the end',
    reason: 'The emulator drops the slash before it looks for the route.',
  },
  {
    test: 'the answer to a bad request > is 400 by the gateway itself',
    reason: 'The emulator takes a bare percent sign in a query.',
  },
  {
    test: 'the answer while something of ours is broken > is 502 where the function dies under the request',
    reason: 'The emulator answers that by itself, whatever the stage says of its gateway’s answers.',
  },
  {
    test: 'a query that outlives the wait > is not to be had at /reporting/downloads/..%2Freports/1',
    reason: 'The emulator decodes a path before it looks for its route.',
  },
  {
    test: 'the answer to a good request > is refused by the store together with the token',
    reason: 'The emulator takes one of two authorizations; S3 takes neither.',
  },
  {
    test: 'a query that outlives the wait > takes a client that keeps Authorization',
    reason: 'The emulator takes one of two authorizations; S3 takes neither.',
  },
  {
    test: 'the answer to a good request > is the same for fifty callers at once',
    reason: 'So many requests at once are as many processes in the emulator; joined.test.ts has ten.',
  },
  {
    test: 'the answer to a bad request > is 413, and no problem document',
    reason: 'The emulator has no limit of 10,240 bytes.',
  },
];

/** A test's full name has blanks or arrows between its parts. */
const patternOf = (test: string) =>
  test.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' > ', '(?: >)? ');

/** Matches the names of all others. */
export const localOnlyPattern = new RegExp(
  `^(?!(?:.*\\.test\\.ts > )?(?:${localOnly.map(({ test }) => patternOf(test)).join('|')}))`,
);

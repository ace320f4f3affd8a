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
    reason: 'Each of 50 requests at once is a process of its own in the emulator; joined.test.ts has ten.',
  },
  {
    test: 'a query that outlives the wait > is delivered through a waiting room of URLs that differ',
    reason: 'Its limits are those of a wait of 0.4 s; waiting.test.ts waits as a deployed stage does.',
  },
  {
    test: 'throttling > without end is a 503 with Retry-After',
    reason: 'A longer wait than 0.4 s ends in the waiting room first.',
  },
  {
    test: 'a result too large to publish while the caller waits > is delivered all the same when the process',
    reason: 'The emulator takes a process that has died for one that works, until the function’s time is up.',
  },
  {
    test: 'the answer while something of ours is broken > is 502 where the function dies under the request',
    reason: 'The emulator takes a process that has died for one that works, until the function’s time is up.',
  },
  {
    test: 'a query that outlives the wait > takes a client that keeps Authorization',
    reason: 'Its client speaks HTTP without TLS.',
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
    test: 'the answer to a good request > is the same for fifty callers at once',
    reason: 'Each of 50 requests at once is a process of its own in the emulator; joined.test.ts has ten.',
  },
  {
    test: 'the answer to a bad request > is 413 where the request is larger',
    reason: 'The emulator has no limit of 10,240 bytes.',
  },
  {
    test: 'a query that outlives the wait > is stopped in Athena when it takes too long',
    reason: 'It asks Athena with credentials of the one-machine stack.',
  },
];

/** A test's full name has blanks or arrows between its parts. */
const patternOf = (test: string) =>
  test.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' > ', '(?: >)? ');

/** Matches the names of all others. */
export const localOnlyPattern = new RegExp(
  `^(?!(?:.*\\.test\\.ts > )?(?:${localOnly.map(({ test }) => patternOf(test)).join('|')}))`,
);

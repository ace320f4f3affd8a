/**
 * The end-to-end cases that can't run against a deployed stage: the beginning of each full name, and the reason. All of
 * them run against the one-machine stack by `npm run test:e2e`.
 */
export const localOnly: readonly { readonly test: string; readonly reason: string }[] = [
  {
    test: 'identical requests > share one query while it runs',
    reason: 'The emulator starts a process for each request at once, too many here.',
  },
  {
    test: 'the answer to a bad request > is 404 if a report’s path ends with a slash',
    reason: 'The emulator drops the slash before it looks for the route.',
  },
  {
    test: 'the answer to a bad request > is a 400 from the gateway itself',
    reason: 'The emulator accepts a bare percent sign in a query.',
  },
  {
    test: 'the answer while a part of the service is broken > is 502 if the function dies during the request',
    reason: 'The emulator sends a 502 of its own and ignores the stage’s gateway responses.',
  },
  {
    test: 'a query that takes longer than one request waits > has no report at /reporting/downloads/..%2Freports/1',
    reason: 'The emulator decodes a path before it looks for its route.',
  },
  {
    test: 'a query that takes longer than one request waits > leads to a 400 from S3',
    reason: 'The emulator accepts a request with two authorizations; S3 refuses it.',
  },
  {
    test: 'a results bucket that has lost objects > gets new objects at the next request',
    reason: 'It empties the bucket that the one-machine stack names.',
  },
];

/** A test's full name has blanks or arrows between the titles in it. */
const patternOf = (test: string) =>
  test.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' > ', '(?: >)? ');

/** Matches the full names of all other cases. */
export const localOnlyPattern = new RegExp(
  `^(?!(?:.*\\.test\\.ts > )?(?:${localOnly.map(({ test }) => patternOf(test)).join('|')}))`,
);

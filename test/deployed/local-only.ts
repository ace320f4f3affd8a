/**
 * The end-to-end cases that can't run against a deployed stage: the beginning of each full name, and the reason. All of
 * them run against the one-machine stack by `npm run test:e2e`.
 */
export const localOnly: Readonly<Record<string, string>> = {
  'identical requests > share one query while it runs':
    'The emulator starts a process for each request at once, too many here.',
  'the answer to a bad request > is 404 if a report’s path ends with a slash':
    'The emulator drops the slash before it looks for the route.',
  'the answer to a bad request > is a 400 from the gateway itself':
    'The emulator accepts a bare percent sign in a query.',
  'the answer while a part of the service is broken > is 502 if the function dies during the request':
    'The emulator sends a 502 of its own and ignores the stage’s gateway responses.',
  'a query that takes longer than one request waits > has no report at /reporting/downloads/..%2Freports/1':
    'The emulator decodes a path before it looks for its route.',
  'a query that takes longer than one request waits > leads to a 400 from S3':
    'The emulator accepts a request with two authorizations; S3 refuses it.',
};

/** A test's full name has blanks or arrows between the titles in it. */
const patternOf = (test: string) =>
  test.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' > ', '(?: >)? ');

/** Matches the full names of all other cases. */
export const localOnlyPattern = new RegExp(
  `^(?!(?:.*\\.test\\.ts > )?(?:${Object.keys(localOnly).map(patternOf).join('|')}))`,
);

import { afterAll, beforeAll, describe, it } from 'vitest';
import { describeDocuments, describeFiles, describeResults } from './results-behaviour.ts';
import type { S3Subject, States, WireSubject } from './subject.ts';
import { describeDownloads, describeListings } from './wire-behaviour.ts';

/** The tests that a store does not pass although S3 does, each with the reason. */
export type LeftOut = Readonly<Record<string, string>>;

type Part<Subject> = (states: States, subject: () => Subject) => void;

const OF_RESULTS = [describeDocuments, describeResults, describeFiles] as const;

/** Tests whether a store behaves as the service expects S3 to behave. S3 itself passes all these tests. */
export const describeS3 = (name: string, open: () => Promise<S3Subject>): void =>
  describeParts(name, open, OF_RESULTS);

/** The same tests for a store behind HTTP, and tests of its downloads and listings. */
export const describeS3OverHttp = (
  name: string,
  open: () => Promise<WireSubject>,
  leftOut: LeftOut = {},
): void => describeParts(name, open, [...OF_RESULTS, describeDownloads, describeListings], leftOut);

/** Only the tests of downloads. */
export const describeS3Downloads = (name: string, open: () => Promise<WireSubject>): void =>
  describeParts(name, open, [describeDownloads]);

function describeParts<Subject extends S3Subject>(
  name: string,
  open: () => Promise<Subject>,
  parts: readonly Part<Subject>[],
  leftOut: LeftOut = {},
): void {
  const unknown = new Set(Object.keys(leftOut));
  const states: States = (title, test) => {
    unknown.delete(title);
    (title in leftOut ? it.skip : it)(title, test);
  };
  describe(name, () => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());
    for (const part of parts) part(states, () => subject);
    if (unknown.size > 0) throw new Error(`no such statement: ${[...unknown].join(', ')}`);
  });
}

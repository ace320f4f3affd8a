import { afterAll, beforeAll, describe, it } from 'vitest';
import { describeDocuments, describeFiles, describeResults } from './results-behaviour.ts';
import type { S3Subject, States, WireSubject } from './subject.ts';
import { describeDownloads, describeListings } from './wire-behaviour.ts';

/** The tests that a store does not pass although S3 does, each with the reason. */
export type LeftOut = Readonly<Record<string, string>>;

/** Tests whether a store behaves as the service expects S3 to behave. S3 itself passes all these tests. */
export function describeS3(name: string, open: () => Promise<S3Subject>): void {
  describe(name, () => {
    const subject = opened(open);
    describeDocuments(it, subject);
    describeResults(it, subject);
    describeFiles(it, subject);
  });
}

/** The same tests for a store behind HTTP, and tests of its downloads and listings. */
export function describeS3OverHttp(
  name: string,
  open: () => Promise<WireSubject>,
  leftOut: LeftOut = {},
): void {
  const unknown = new Set(Object.keys(leftOut));
  const states: States = (title, test) => {
    unknown.delete(title);
    (title in leftOut ? it.skip : it)(title, test);
  };
  describe(name, () => {
    const subject = opened(open);
    describeDocuments(states, subject);
    describeResults(states, subject);
    describeFiles(states, subject);
    describeDownloads(states, subject);
    describeListings(states, subject);
    if (unknown.size > 0) throw new Error(`no such statement: ${[...unknown].join(', ')}`);
  });
}

/** Only the tests of downloads. */
export function describeS3Downloads(name: string, open: () => Promise<WireSubject>): void {
  describe(name, () => describeDownloads(it, opened(open)));
}

function opened<Subject extends S3Subject>(open: () => Promise<Subject>): () => Subject {
  let subject: Subject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject.close());
  return () => subject;
}

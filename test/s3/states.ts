import { expect } from 'vitest';
import type { ResultsKey } from '../../lib/results/keys.ts';

/** Registers one statement of the suite as a test. */
export type States = (title: string, test: () => Promise<void>) => void;

/** A part of every key. It differs in every run, because two runs may use the same bucket. */
export const RUN = Date.now().toString(36);

let keys = 0;
export const freshKey = (): ResultsKey => `jobs/${RUN}/${++keys}.json`;
export const freshFile = (): ResultsKey => `reports/${RUN}-${++keys}/report.csv`;
export const freshResult = (): ResultsKey => `athena/${RUN}-${++keys}.csv`;

/** The age of an object that was written a moment ago: S3 gives ages in whole seconds. */
export const JUST_NOW = expect.toSatisfy((ageMs: unknown) => ageMs === 0 || ageMs === 1_000);

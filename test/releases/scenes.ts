import { join } from 'node:path';
import type { Plan } from '../worlds/plan.ts';
import type { Release } from './release-before.ts';

export const DAY = '2026-01-31';
export const OTHER_DAY = '2026-01-30';

/** Whether the sample is taken when this object is created. */
type Moment = (key: string, document: Readonly<Record<string, unknown>>) => boolean;

/** A moment at which a release has just stored a document that another release will read. */
export interface Scene {
  readonly at: Moment;
  /**
   * The key prefixes of the objects in the sample. If the sample has a ticket, the partner follows it; otherwise the
   * partner requests the report of `DAY`.
   */
  readonly keeps: readonly string[];
  /** The settings of the service that differ from those in `stage`. */
  readonly settings?: Partial<Plan['settings']>;
  /** The settings of the simulated Athena that differ from those in `stage`. */
  readonly engine?: Partial<Plan['engine']>;
  /** The days whose reports the partner requests, one second apart, up to the moment `at`. The default is `DAY`. */
  readonly asked?: readonly string[];
}

/** The states of a record are named as by this release, or as by release 1.0.0. */
const inState =
  (...states: string[]): Moment =>
  (key, document) =>
    key.startsWith('jobs/') && states.includes(String(document['why'] ?? document['state']));
const waitsFor =
  (what: string): Moment =>
  (key, document) =>
    key.startsWith('waiting/') && (document['progress'] as Record<string, unknown>)['waitsFor'] === what;

const failed = inState('engine', 'retryable', 'failed');
const ONE_QUERY = { queriesPerPartner: 1 };

/** The scenes of the five kinds of stored documents. A kind with several states has a scene for each state. */
export const scenes = {
  'job record: starting': { at: inState('starting'), keeps: ['jobs/'] },
  'job record: under way': { at: inState('under-way'), keeps: ['jobs/'] },
  'job record: succeeded': { at: inState('done', 'succeeded'), keeps: ['jobs/', 'reports/'] },
  'job record: scan limit exceeded': {
    at: inState('too-large', 'scan-limit-exceeded'),
    keeps: ['jobs/'],
    settings: { tooManyDays: 1 },
  },
  'job record: failed': { at: failed, keeps: ['jobs/', 'waiting/'], engine: { fails: 1 } },
  'ticket: waits for a query': { at: waitsFor('attempt'), keeps: ['waiting/', 'jobs/'] },
  'ticket: waits for a slot': {
    at: waitsFor('slot'),
    keeps: ['waiting/', 'jobs/', 'slots/'],
    settings: ONE_QUERY,
    asked: [OTHER_DAY, DAY],
  },
  publication: {
    at: (key) => key.startsWith('publications/'),
    keeps: ['publications/', 'jobs/'],
    settings: { largeFromDays: 1 },
  },
  slots: { at: inState('under-way'), keeps: ['slots/', 'jobs/'], settings: ONE_QUERY, asked: [OTHER_DAY] },
  'register record': { at: (key) => key.startsWith('partners/'), keeps: ['partners/'], asked: [] },
} as const satisfies Readonly<Record<string, Scene>>;

export type SceneName = keyof typeof scenes;

/** Path of a scene's sample of a release, for example `1.0.0/job-record-under-way.json`. */
export const sampleFile = ({ version }: Release, scene: SceneName): string =>
  join(import.meta.dirname, version, `${scene.replaceAll(/:? /g, '-')}.json`);

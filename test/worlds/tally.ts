import { judged, RULES } from './invariants/judge.ts';
import { OPERATOR_KINDS, WRITER_KINDS } from './plan.ts';
import { HAPPENING } from './troubles.ts';

/** In a run of at least this many worlds, everything in `EXPECTED` must happen. */
export const WORLDS_THAT_SHOW_ALL = 10_000;

/** The events that must happen in a full run. If one never happened, the rules would not be tested with it. */
export const EXPECTED: readonly string[] = [
  ...HAPPENING,
  ...WRITER_KINDS.map((kind) => `writer ${kind}`),
  ...OPERATOR_KINDS.map((kind) => `operator ${kind}`),
  ...RULES.map(judged),
  'clock is set',
  'S3 times a request out',
  'refused in an outage',
  'denied in an outage',
  'lifecycle removes an object',
  'token gives the same execution',
  'execution forgotten',
  'query is stopped',
  'query succeeded',
  'query failed',
  'query cancelled',
  'query fails: engine',
  'query fails: engine, retryable',
  'query fails: file vanished',
  'query fails: scan limit',
  ...[200, 401, 404, 500, 503].map((status) => `days ${status}`),
  'publish answered',
  'publish failed',
  'publish died',
  'abandon answered',
  'abandon died',
  'caller has its report',
  'caller went away',
  'caller was refused',
  'the lake is not listed',
  'named hole: a file came and went unmarked',
  ...['report', 'hop'].flatMap((where) => [
    `${where} 303 waiting room, fwd=miss`,
    `${where} 303 waiting room, fwd=miss; collapsed`,
    `${where} 303 file, fwd=miss`,
    `${where} 303 file, fwd=miss; collapsed`,
    `${where} 400 The report reads more data than one report may`,
    `${where} 500 QueryFailed`,
    `${where} 503 The report took too long and was given up`,
    `${where} killed`,
  ]),
  'report 303 file, hit',
  'report 503 The service has more to do than it can',
  'report 401 Not authorized to this endpoint',
  'report 404 This service holds no records for the publisher performance report: its table is missing',
  'hop 404 There is no such download, or it has expired',
  'hop 503 The events of this window are being rewritten at this moment',
  'hop 503 Too many reports of this client were under way',
];

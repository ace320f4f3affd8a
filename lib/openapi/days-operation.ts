import { DAY_STATES, MARKER_LOOKBACK_DAYS } from '../lake/day-states.ts';
import { type Report, reports } from '../report/catalogue.ts';
import { MAX_STATE_DAYS } from '../report/parse-days-request.ts';
import { patternOf, UTC_TIME_FORM } from '../report/utc-time.ts';
import { GATEWAY_STATUSES, pascalCase } from './operations.ts';
import { problemReferences } from './problem-responses.ts';
import { type Part, reference } from './schema.ts';

/** GET /reporting/{report}/days */
export const daysOperation = (report: Report, security: readonly Part[]): Part => ({
  operationId: `getDaysOf${pascalCase(report.title)}`,
  summary: `Days of the ${report.title.toLowerCase()}`,
  description:
    'The days of the window that hold events, each with its state and its version: keep the ' +
    `versions of what you have pulled, and pull the days whose version is another. At most ${MAX_STATE_DAYS} days.`,
  tags: ['Reports'],
  security,
  parameters: [
    reference('parameters', 'startInclusive'),
    reference('parameters', 'daysEndExclusive'),
    reference('parameters', 'api-version'),
  ],
  responses: {
    200: {
      description: 'The days that hold events, in their order, as they are at this moment.',
      headers: { 'Cache-Control': reference('headers', 'Cache-Control') },
      content: { 'application/json': { schema: daysSchema } },
    },
    ...problemReferences([...GATEWAY_STATUSES, 401, 404, 503]),
  },
});

/** The schema of the answer of `days`. */
const daysSchema: Part = {
  type: 'object',
  required: ['report', 'startInclusive', 'endExclusive', 'days'],
  properties: {
    report: { type: 'string', enum: reports.map(({ name }) => name) },
    startInclusive: { type: 'string', pattern: patternOf(UTC_TIME_FORM) },
    endExclusive: { type: 'string', pattern: patternOf(UTC_TIME_FORM) },
    days: {
      type: 'array',
      items: {
        type: 'object',
        required: ['day', 'startInclusive', 'endExclusive', 'state', 'version'],
        properties: {
          day: { type: 'string', pattern: patternOf('YYYY-MM-DD'), description: 'UTC.' },
          startInclusive: {
            type: 'string',
            pattern: patternOf(UTC_TIME_FORM),
            description: 'The midnight that begins the day, even if the window begins later.',
          },
          endExclusive: {
            type: 'string',
            pattern: patternOf(UTC_TIME_FORM),
            description:
              'The midnight that begins the next day, even if the window ends earlier. A report of exactly this day has ' +
              'the window from startInclusive to endExclusive.',
          },
          state: {
            type: 'string',
            enum: DAY_STATES,
            description:
              '`final`: complete, until it is opened again. `open`: more may come. `unknown`: the data do not say ' +
              `(no day of the window and of the ${MARKER_LOOKBACK_DAYS} days before it is marked as complete).`,
          },
          version: {
            type: 'string',
            minLength: 1,
            description:
              'Changes when the data of the day change, and only then. Compare it for equality; nothing else is promised ' +
              'of it. A report of exactly this day has it in `Data-Version`.',
          },
        },
      },
    },
  },
  example: {
    report: reports[0]?.name,
    startInclusive: '2026-01-31T00:00:00Z',
    endExclusive: '2026-02-02T00:00:00Z',
    days: [
      {
        day: '2026-01-31',
        startInclusive: '2026-01-31T00:00:00Z',
        endExclusive: '2026-02-01T00:00:00Z',
        state: 'final',
        version: '0b7f2a4be9a1c6d83c1f5a9d27e0b6c4',
      },
      {
        day: '2026-02-01',
        startInclusive: '2026-02-01T00:00:00Z',
        endExclusive: '2026-02-02T00:00:00Z',
        state: 'open',
        version: '5ad0c3e2f1884be7a6b9d01c3e4f7a28',
      },
    ],
  },
};

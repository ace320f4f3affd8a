import { GATEWAY_STATUSES } from './operations.ts';
import { problemReferences } from './problem-responses.ts';
import { type Part, reference } from './schema.ts';

const text: Part = { type: 'string' };
const texts: Part = { type: 'array', items: text };

const fieldSchema: Part = {
  type: 'object',
  required: ['name', 'role', 'type', 'meaning', 'groupable', 'filterable'],
  properties: {
    name: text,
    role: { type: 'string', enum: ['dimension', 'metric'] },
    type: { type: 'string', enum: ['datetime', 'integer', 'string', 'float'] },
    meaning: text,
    groupable: { type: 'boolean', description: 'Whether it can stand in `groupBy`.' },
    filterable: { type: 'boolean', description: 'Whether it can be filtered by.' },
    grain: { type: 'string', enum: ['hour', 'day'], description: 'The unit that times are truncated to.' },
    isAmount: { type: 'boolean', description: 'Whether a metric is an amount of money.' },
    countedBy: {
      type: 'object',
      description: 'The dimensions that a metric is counted by, if that depends on the grouping.',
      required: ['whereGroupedBy', 'otherwise'],
      properties: { whereGroupedBy: text, otherwise: text },
    },
  },
};

/** GET /reporting/fields. */
export const fieldsOperation: Part = {
  operationId: 'getFields',
  summary: 'Reports, fields and limits',
  description: 'The reports, fields and limits, for programs that let people choose.',
  tags: ['Description'],
  security: [],
  responses: {
    200: {
      description: 'The reports, each with its fields.',
      headers: {
        'Cache-Control': { required: true, schema: { type: 'string', pattern: '^public, max-age=\\d+$' } },
        Vary: reference('headers', 'Vary'),
      },
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['apiVersions', 'timeZone', 'timeForm', 'limits', 'reports'],
            properties: {
              apiVersions: texts,
              timeZone: { type: 'string', description: 'The time zone of all times.' },
              timeForm: text,
              currency: {
                type: 'string',
                pattern: '^[A-Z]{3}$',
                description: 'The currency of all amounts (ISO 4217); absent if the operator has not set it.',
              },
              access: {
                type: 'object',
                description: 'How to get access; absent where the operator has not said it.',
                properties: {
                  tokenEndpoint: {
                    type: 'string',
                    format: 'uri',
                    description: 'Where access tokens come from, for a client id and secret.',
                  },
                  contact: {
                    type: 'string',
                    description: 'Whom to ask: an e-mail address, or an https URL.',
                  },
                },
              },
              limits: {
                type: 'object',
                required: ['windowDays', 'longestReportSeconds', 'filterTextCharacters', 'filterTimeForms'],
                properties: {
                  windowDays: { type: 'integer', description: 'The longest window.' },
                  longestReportSeconds: {
                    type: 'integer',
                    description:
                      'A report whose query runs longer is given up (503). The query may also wait in a queue for as long before it runs.',
                  },
                  filterTextCharacters: { type: 'integer', description: 'The longest text of a filter.' },
                  filterTimeForms: {
                    type: 'object',
                    description: 'The form of a time in a filter, for each grain.',
                    additionalProperties: text,
                  },
                },
              },
              reports: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['name', 'title', 'path', 'fields'],
                  properties: {
                    name: text,
                    title: text,
                    path: text,
                    fields: { type: 'array', items: fieldSchema },
                  },
                },
              },
            },
          },
        },
      },
    },
    ...problemReferences(GATEWAY_STATUSES),
  },
};

import { CACHE_STATUS } from '../http/redirect.ts';
import { headerAsDelivered } from '../response-headers.ts';
import type { Part } from './schema.ts';

/** The headers of the service's answers, for `components`. */
export const headers = (scope: string): Part => ({
  'Cache-Control': {
    required: true,
    description: 'No cache may store this answer.',
    schema: { type: 'string', enum: ['no-store'] },
  },
  'Cache-Status': {
    required: true,
    description:
      'Whether the report comes from a copy, from a query of its own, or from one under way (RFC 9211).',
    schema: { type: 'string', enum: Object.values(CACHE_STATUS) },
  },
  'Content-Encoding': {
    description:
      'Present if the request that was answered with this file’s URL accepts gzip, and there is a gzipped file.',
    schema: { type: 'string', enum: ['gzip'] },
  },
  Vary: {
    required: true,
    description:
      'If `Accept-Encoding` allows gzip, the document, or the file that the location leads to, is gzipped (if there is a gzipped file).',
    schema: { type: 'string', pattern: '^Accept-Encoding(, Origin)?$' },
  },
  DownloadOrWaitingRoom: {
    required: true,
    description:
      'Where to GET next: a download URL, good for some minutes and for whoever has it, or the waiting room.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 1 },
  },
  RetryAfterFirewall: {
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 1 },
  },
  [headerAsDelivered('WWW-Authenticate')]: {
    required: true,
    description:
      'The challenge of RFC 6750, as the gateway renames it: what is wrong with the token. If the scope is missing, ' +
      'it names the scope to request; `scope` in the body says it too.',
    schema: { type: 'string', pattern: '^Bearer( |$)' },
    example: `Bearer error="insufficient_scope", scope="${scope}"`,
  },
});

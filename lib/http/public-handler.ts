import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { scopeOf } from '../access/verify-token.ts';
import type { Config } from '../config.ts';
import { DOCUMENTS_PATH } from '../names.ts';
import { openApiDocument } from '../openapi/document.ts';
import { describeFields } from '../openapi/fields.ts';
import { NotFound } from '../problems/problem.ts';
import { FIELDS_PATH, OPENAPI_PATH, ROUTE_METHODS } from '../routes.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';
import { basePath, serviceUrl } from './request-header.ts';

/**
 * What needs no right, and contains no data:
 *
 * - GET /openapi.json: the service in OpenAPI 3.1, with the URL at which this caller reached it
 * - GET /reporting/fields: the reports, their fields and the limits of a request
 * - GET / and /page/{file}: the page on which people build, run and look at reports; GET /docs, /docs/{document} and
 *   /llms.txt: the documents for callers, with the addresses, scope and limits of this service in every example. If the
 *   URL has the files' version, browsers may cache them, otherwise they must revalidate. 308 from /docs/ to /docs
 * - 404 for any other path or method: with a bearer token, API Gateway's own answer would be a 403 about AWS signatures
 */
export function publicHandler({
  files,
  downloadOrigins,
  ...dependencies
}: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'> & {
  readonly files: ReturnType<typeof readPageFiles>;
  /** Where reports are downloaded from: the only other hosts that the page may call. */
  readonly downloadOrigins: readonly string[];
}) {
  const { config } = dependencies;
  const headers = securityHeaders(downloadOrigins);
  const facts = factsOf(config);
  const fields = JSON.stringify(describeFields(config));
  return problemChain(dependencies).handler(async (event) => {
    const { httpMethod, resource, requestContext } = event;
    if (!ROUTE_METHODS.includes(httpMethod)) throw new NotFound();
    // For API Gateway, `/docs/` is another path than `/docs`. The relative URL holds below the base path of a stage too.
    if (requestContext.path.endsWith(`${DOCUMENTS_PATH}/`))
      return { statusCode: 308, headers: { Location: `..${DOCUMENTS_PATH}` }, body: '' };
    if (resource === FIELDS_PATH) return described('public', fields);
    // Shared caches must not store the document, because it holds the URL at which this caller reached the service.
    if (resource === OPENAPI_PATH) {
      const document = openApiDocument(serviceUrl(event) ?? '/', facts.scope, config);
      return described('private', JSON.stringify(document));
    }
    const file = files.byName.get(fileOf(event));
    if (!file) throw new NotFound();
    const isCurrent = event.multiValueQueryStringParameters?.['v']?.[0] === files.version;
    // Where this caller reaches the service: as a base path for links, and as a URL for examples.
    const base = basePath(event) ?? '';
    const values = { ...facts, base, service: serviceUrl(event) ?? base, version: files.version };
    return {
      statusCode: 200,
      headers: {
        ...headers,
        ...GZIPPED,
        'Content-Type': file.mediaType,
        'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
      body: /html|plain/.test(file.mediaType) ? filledIn(file, values) : file.body,
    };
  });
}

const GZIPPED = { Vary: 'Accept-Encoding' };

/** A description of the service, which caches of this kind may store for five minutes. */
const described = (caches: 'public' | 'private', body: string): APIGatewayProxyResult => ({
  statusCode: 200,
  headers: { ...GZIPPED, 'Content-Type': 'application/json', 'Cache-Control': `${caches}, max-age=300` },
  body,
});

/** The name of the requested file, as `page/build-page.ts` writes it. No file has the empty name. */
function fileOf({ resource, pathParameters }: APIGatewayProxyEvent): string {
  const { file = '', document = '' } = pathParameters ?? {};
  if (resource === '/') return 'page.html';
  if (resource === DOCUMENTS_PATH) return 'docs/index.html';
  if (resource === '/llms.txt') return 'docs/llms.txt';
  if (document !== '') return `docs/${document}${document.includes('.') ? '' : '.html'}`;
  return file.includes('/') || file.endsWith('.html') ? '' : file;
}

function factsOf({ token, access, currency, queriesPerPartner, longestQueryMs }: Config) {
  const minutes = Math.ceil(longestQueryMs / 60_000);
  return {
    tokenEndpoint: access.tokenEndpoint ?? 'https://your-token-endpoint.example',
    scope: scopeOf(token),
    contact: access.contact ?? 'the operator who gave you the client',
    currency: currency === undefined ? 'in one currency, which the operator can tell you' : `in ${currency}`,
    slots:
      queriesPerPartner === undefined
        ? 'new ones wait for none of your others'
        : `at most ${queriesPerPartner} new ones are made at one time, and others wait`,
    longest: `${minutes} minutes in the queue and ${minutes} running`,
  };
}

/** Fills in what the text names as `{{name}}`. What it names otherwise, such as a template in an example, stays. */
const filledIn = ({ mediaType, body }: PageFile, values: Readonly<Record<string, string>>): string =>
  body.replaceAll(/{{(\w+)}}/g, (all, name: string) => {
    const value = values[name] ?? all;
    return mediaType.includes('html')
      ? value.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
      : value;
  });

/** The page and its workers run no inline code, and load nothing from other hosts except reports. */
const securityHeaders = (downloadOrigins: readonly string[]) => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "worker-src 'self'",
    `connect-src 'self' ${downloadOrigins.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
});

interface PageFile {
  readonly mediaType: string;
  readonly body: string;
}

const MEDIA_TYPE: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.py': 'text/x-python; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
};

/**
 * Reads the page's files and the documents, once, when the function starts. `version` changes when any file changes: the
 * page loads its files by version, so browsers use no outdated file. Throws if the files were not built.
 */
export function readPageFiles(directory: string) {
  const byName = new Map<string, PageFile>();
  const version = createHash('sha256');
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    const mediaType = MEDIA_TYPE[extname(name)];
    if (mediaType === undefined) continue;
    const body = readFileSync(join(directory, name), 'utf8');
    byName.set(name, { mediaType, body });
    version.update(body);
  }
  return { version: version.digest('hex').slice(0, 12), byName };
}

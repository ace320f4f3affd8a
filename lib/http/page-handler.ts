import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { NotFound } from '../problems/problem.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';

const HTML = 'page.html';

/** A path of plain segments, such as a stage. It never begins with `//`, which would name a host. */
const PLAIN_PATH = /^(?:\/[\w.~-]+)*$/;

/**
 * GET /: the page on which people build, run and look at reports. GET /page/{file}: a file that the page loads. Both
 * are public and contain no data.
 *
 * - 200 with the page or the file; if the URL has the files' version, browsers may cache it, otherwise they must
 *   revalidate it
 * - 404 if the page has no such file
 */
export function pageHandler({
  files,
  downloadOrigins,
  ...dependencies
}: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'> & {
  readonly files: PageFiles;
  /** Where reports are downloaded from: the only other hosts that the page may call. */
  readonly downloadOrigins: readonly string[];
}) {
  const headers = securityHeaders(downloadOrigins);
  return problemChain(dependencies).handler(async (event): Promise<APIGatewayProxyResult> => {
    const name = event.pathParameters?.['file'] ?? HTML;
    const file = files.byName.get(name);
    if (!file || (name === HTML && event.pathParameters)) throw new NotFound();
    const isCurrent = event.multiValueQueryStringParameters?.['v']?.[0] === files.version;
    return {
      statusCode: 200,
      headers: {
        ...headers,
        'Content-Type': file.mediaType,
        'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
        // The gateway gzips large files for callers that accept gzip.
        Vary: 'Accept-Encoding',
      },
      body: name === HTML ? filledIn(file.body, { base: baseOf(event), version: files.version }) : file.body,
    };
  });
}

/** The base path of a stage or of a custom domain, without a slash at its end. */
function baseOf({ requestContext: { path } }: APIGatewayProxyEvent): string {
  const base = path.replace(/\/$/, '');
  return PLAIN_PATH.test(base) ? base : '';
}

const filledIn = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/{{(\w+)}}/g, (_, name: string) => values[name] ?? '');

/**
 * The page runs no inline code, and loads nothing from other hosts except reports (results bucket or edge). The same
 * policy holds for its workers.
 */
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

export interface PageFiles {
  /** Changes when any file changes. The page loads its files by version, so browsers use no outdated file. */
  readonly version: string;
  readonly byName: ReadonlyMap<string, { readonly mediaType: string; readonly body: string }>;
}

const MEDIA_TYPE: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the page's files, once, when the function starts. Throws if the files were not built. */
export function readPageFiles(directory: string): PageFiles {
  const byName = new Map<string, { mediaType: string; body: string }>();
  const version = createHash('sha256');
  for (const name of readdirSync(directory).sort()) {
    const mediaType = MEDIA_TYPE[extname(name)];
    if (mediaType === undefined) continue;
    const body = readFileSync(join(directory, name), 'utf8');
    byName.set(name, { mediaType, body });
    version.update(body);
  }
  return { version: version.digest('hex').slice(0, 12), byName };
}

import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { problemResponse } from '../problems/problem-response.ts';
import { COMMON_HEADERS, VERSION_HEADER } from '../response-headers.ts';
import { cors } from './cors.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { type LoggedContext, requestLog } from './request-log.ts';

/**
 * The middleware of every route: one log line per request, a problem document for every error, the common headers, the
 * commit's header, the headers of a deprecated API version, and the CORS headers for the stage's origins.
 *
 * @param route `endsReport`: whether an error of this route ends a report, as on the reports' routes and in the waiting
 * room
 */
export const problemChain = (
  { config, log, metrics }: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>,
  { endsReport = false, deprecatedVersions = DEPRECATED_VERSIONS } = {},
) => {
  const addHeaders: middy.MiddlewareFn<APIGatewayProxyEvent, APIGatewayProxyResult> = ({
    event,
    response,
  }) => {
    if (!response) return;
    const version = event.multiValueQueryStringParameters?.['api-version']?.[0] ?? '';
    const deprecated = deprecatedVersions.get(version);
    response.headers = {
      ...response.headers,
      ...COMMON_HEADERS,
      [VERSION_HEADER]: config.commit,
      ...(deprecated && deprecationHeaders(deprecated)),
    };
  };
  return (
    middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext>()
      // `cors` comes first, because the first middleware sees the answer last.
      .use(cors(config.corsOrigins))
      .use(requestLog(log, metrics, endsReport))
      .use({ after: addHeaders, onError: addHeaders })
      .onError((request) => {
        request.response = problemResponse(request.error, request.event.requestContext.requestId);
      })
  );
};

/** What the answers say about a version of the API that will be removed (docs/contract.md#when-a-version-goes). */
interface DeprecatedVersion {
  /** The time from which callers should no longer use the version, for example `2027-01-01T00:00:00Z`. */
  readonly deprecatedAt: string;
  /** The time from which the service may refuse the version. */
  readonly sunsetAt: string;
  /** The page that says what to do instead. */
  readonly link: string;
}

/** The versions whose removal is decided. */
const DEPRECATED_VERSIONS: ReadonlyMap<string, DeprecatedVersion> = new Map();

/** The headers of RFC 9745 and RFC 8594. */
const deprecationHeaders = ({ deprecatedAt, sunsetAt, link }: DeprecatedVersion) => ({
  Deprecation: `@${Date.parse(deprecatedAt) / 1_000}`,
  Sunset: new Date(sunsetAt).toUTCString(),
  Link: `<${link}>; rel="deprecation sunset"`,
});

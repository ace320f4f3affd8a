/**
 * How the edge before the results bucket must be set: a CDN that takes `Authorization` away on its way to the bucket, for
 * clients that send their token on with the redirect. `infra/` makes a CloudFront distribution of these settings, the
 * one-machine stack its stand-in. Why each stands as it does: docs/decisions/0049-an-edge-for-downloads.md.
 */
export interface EdgeSettings {
  readonly methods: readonly string[];
  /** What tells answers apart, beside the path. It reaches the bucket; of other headers only `Range` and conditions do. */
  readonly key: { readonly query: 'all' | 'none'; readonly headers: readonly string[] };
  readonly ttlSeconds: { readonly minimum: number; readonly default: number; readonly maximum: number };
  /** For how long an error is given again. */
  readonly errorTtlSeconds: number;
  readonly compresses: boolean;
}

export const DOWNLOADS_EDGE: EdgeSettings = {
  methods: ['GET', 'HEAD', 'OPTIONS'],
  key: {
    query: 'all',
    headers: ['Origin', 'Access-Control-Request-Headers', 'Access-Control-Request-Method'],
  },
  // CloudFormation takes no key with a maximum of 0.
  ttlSeconds: { minimum: 0, default: 0, maximum: 1 },
  errorTtlSeconds: 0,
  compresses: false,
};

/** The errors for which CloudFront takes a time of their own. */
export const EDGE_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504] as const;

/** In bytes. Beyond 30 GB, by now perhaps 50, CloudFront ends with an error. */
export const LARGEST_EDGE_FILE = 30_000_000_000;

/** What a link by the edge asks of the bucket: neither kept, nor given to anybody else who asks at the same time. */
export const EDGE_CACHE_CONTROL = 'no-store';

/** A presigned URL by way of the edge, which asks the bucket for the same path and query under the bucket's own host. */
export const linkByEdge = (link: string, edgeOrigin: string): string =>
  edgeOrigin + link.slice(new URL(link).origin.length);

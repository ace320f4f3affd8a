/**
 * Settings of the edge, a CDN in front of the results bucket, for CloudFront and for the one-machine stack's stand-in. It
 * removes `Authorization`, which some clients repeat and S3 refuses: docs/decisions/0049-an-edge-for-downloads.md.
 */
export const DOWNLOADS_EDGE = {
  methods: ['GET', 'HEAD', 'OPTIONS'],
  /** What the cache key has beside the path. Of all other headers, only `Range` and the conditional ones reach the bucket. */
  key: {
    query: 'all' as 'all' | 'none',
    headers: ['Origin', 'Access-Control-Request-Headers', 'Access-Control-Request-Method'],
  },
  // Maximum 1, because CloudFormation refuses a cache key if the maximum TTL is 0.
  ttlSeconds: { minimum: 0, default: 0, maximum: 1 },
  errorTtlSeconds: 0,
  compresses: false,
};

export type EdgeSettings = typeof DOWNLOADS_EDGE;

/** The error statuses whose TTL CloudFront lets us set. */
export const EDGE_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504] as const;

/** In bytes. CloudFront refuses larger files. Its documented limit was 30 GB, and may be 50 GB by now. */
export const LARGEST_EDGE_FILE = 30_000_000_000;

/** With this `Cache-Control` of the bucket, CloudFront neither stores an answer nor shares it between requests. */
export const EDGE_CACHE_CONTROL = 'no-store';

/** A presigned URL with the edge's origin. The edge requests the same path and query from the bucket's own host. */
export const linkByEdge = (link: string, edgeOrigin: string): string =>
  edgeOrigin + link.slice(new URL(link).origin.length);

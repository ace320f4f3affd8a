/** What the answers say about a version of the API that will be removed (docs/contract.md#when-a-version-goes). */
export interface DeprecatedVersion {
  /** The time from which callers should no longer use the version, for example `2027-01-01T00:00:00Z`. */
  readonly deprecatedAt: string;
  /** The time from which the service may refuse the version. */
  readonly sunsetAt: string;
  /** The page that says what to do instead. */
  readonly link: string;
}

/** The versions whose removal is decided. */
export const DEPRECATED_VERSIONS: ReadonlyMap<string, DeprecatedVersion> = new Map();

/** The headers of RFC 9745 and RFC 8594. */
export const deprecationHeaders = ({ deprecatedAt, sunsetAt, link }: DeprecatedVersion) => ({
  Deprecation: `@${Date.parse(deprecatedAt) / 1_000}`,
  Sunset: new Date(sunsetAt).toUTCString(),
  Link: `<${link}>; rel="deprecation sunset"`,
});

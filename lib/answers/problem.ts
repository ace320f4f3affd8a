import { gatewayProblems } from './gateway-problems.ts';

/** One fault of a request: the query parameter or header at fault, and what is wrong with it. */
export interface Fault {
  readonly parameter: string;
  readonly detail: string;
}

/**
 * The causes a caller may learn. Each class has a status, a stable type, a title and a public detail;
 * anything else that is thrown is ours, and is answered as an opaque 500 (contract 7).
 */
export abstract class Problem extends Error {
  abstract readonly status: number;
  /** The last part of the problem's type URI (RFC 9457). */
  abstract readonly slug: string;
  abstract readonly title: string;
  /** Response headers beside the document's own. */
  get headers(): Readonly<Record<string, string>> {
    return {};
  }
  /** Members of the document beside those that every problem has (RFC 9457, 3.2). */
  get members(): Readonly<Record<string, unknown>> {
    return {};
  }
}

/** 400: everything that is wrong with the request, at once (contract 4.1, 7). */
export class InvalidRequest extends Problem {
  readonly status = 400;
  readonly slug = 'invalid-request';
  readonly title = 'Invalid request';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.length === 1 ? 'The request has a fault.' : `The request has ${faults.length} faults.`);
    this.faults = faults;
  }

  override get members() {
    return { errors: this.faults };
  }
}

/** 400: the engine stopped the query at the workgroup's limit of bytes scanned. */
export class ReportTooLarge extends Problem {
  readonly status = 400;
  readonly slug = 'report-too-large';
  readonly title = 'Report too large';

  constructor() {
    super(
      'The report reads more data than one report may. Narrow the window, request fewer fields or add a filter.',
    );
  }
}

/** 401: no token, or one that is no good (contract 5.4). */
export class Unauthenticated extends Problem {
  readonly status = 401;
  readonly slug = 'unauthenticated';
  readonly title = 'Unauthenticated';
  readonly #challenge: string;

  constructor(detail: string, challenge = 'Bearer error="invalid_token"') {
    super(detail);
    this.#challenge = challenge;
  }

  override get headers() {
    return { 'WWW-Authenticate': this.#challenge };
  }
}

/** 401: a good token that was not issued for this service (contract 5.3), or opens none of its rows. */
export class NotAuthorized extends Problem {
  readonly status = 401;
  readonly slug = 'not-authorized';
  readonly title = 'Not authorized';
  readonly #scope: string;

  /** @param scope what the token must be requested with */
  constructor(scope: string) {
    super('Not authorized to this endpoint.');
    this.#scope = scope;
  }

  override get headers() {
    return { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${this.#scope}"` };
  }

  /** Here too, since API Gateway renames the header. */
  override get members() {
    return { scope: this.#scope };
  }
}

/** 404: a path that is none, or a method that it does not take. */
export class NotFound extends Problem {
  readonly status = 404;
  readonly slug = gatewayProblems.notFound.slug;
  readonly title = gatewayProblems.notFound.title;

  constructor() {
    super(gatewayProblems.notFound.detail);
  }
}

/** 404: a waiting URL that was never given out, or has expired. */
export class NoSuchDownload extends Problem {
  readonly status = 404;
  readonly slug = 'no-such-download';
  readonly title = 'No such download';

  constructor() {
    super('There is no such download, or it has expired. Request the report again.');
  }
}

/** 503: the engine is saturated, or not done in time; the same request will do later. */
export class Unavailable extends Problem {
  readonly status = 503;
  readonly slug = 'unavailable';
  readonly title = 'Service unavailable';
  readonly #retryAfterSeconds: number;

  constructor(detail: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(detail, options);
    this.#retryAfterSeconds = retryAfterSeconds;
  }

  override get headers() {
    return { 'Retry-After': String(this.#retryAfterSeconds) };
  }
}

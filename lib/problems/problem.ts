import { gatewayProblems, otherGatewayProblems } from './gateway-problems.ts';

/** One fault of a request: the query parameter or header at fault, and what is wrong with it. */
export interface Fault {
  readonly parameter: string;
  readonly detail: string;
}

/**
 * An error whose cause the caller may know. Each class has a status, a stable type, a title and a public detail.
 * Every other error is a fault of the service: the caller gets a 500 without details (docs/contract.md#errors).
 */
export abstract class Problem extends Error {
  abstract readonly status: number;
  /** The last part of the problem's type URI (RFC 9457). */
  abstract readonly slug: string;
  abstract readonly title: string;
  /** Response headers in addition to those of every problem. */
  get headers(): Readonly<Record<string, string>> {
    return {};
  }
  /** Members of the document in addition to those of every problem (RFC 9457, 3.2). */
  get members(): Readonly<Record<string, unknown>> {
    return {};
  }
}

/** The `detail`: the first fault, and how many more there are. Many clients show only the `detail` of an answer. */
function firstFault([first, ...others]: readonly Fault[]): string {
  if (!first) return 'The request has a fault.';
  const more = others.length === 0 ? '' : ` (${others.length} more in errors)`;
  return `${first.parameter}: ${first.detail}${more}`;
}

/** 400: the faults of the request, up to `mostListed` in one answer (docs/contract.md#errors). */
export class InvalidRequest extends Problem {
  readonly status = 400;
  readonly slug = otherGatewayProblems.unreadable.slug;
  readonly title = otherGatewayProblems.unreadable.title;
  /** The most faults in one answer: a request of 8 kB can have a thousand, and each fault may list all field names. */
  static readonly mostListed = 25;
  /** The first `mostListed` faults. A caller who has corrected them gets the others with the next request. */
  readonly faults: readonly Fault[];
  /** The number of faults that are not in `faults`. */
  readonly faultsLeftOut: number;

  constructor(faults: readonly Fault[]) {
    super(firstFault(faults));
    this.faults = faults.slice(0, InvalidRequest.mostListed);
    this.faultsLeftOut = faults.length - this.faults.length;
  }

  override get members() {
    return {
      errors: this.faults,
      ...(this.faultsLeftOut > 0 && { errorsLeftOut: this.faultsLeftOut }),
    };
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

/** 401: no token, or an invalid one (docs/contract.md#the-token). */
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

/**
 * 401: a valid token that lacks the scope (docs/contract.md#the-scope) or the required claim, or that gives access to
 * no row of the report.
 */
export class NotAuthorized extends Problem {
  readonly status = 401;
  readonly slug = 'not-authorized';
  readonly title = 'Not authorized';
  readonly #scope: string;
  /** The caller that the token was issued to, for the log. */
  readonly caller: string;
  readonly #reports: readonly string[];

  /**
   * @param scope the scope with which the token must be requested
   * @param reports the reports that the caller may request instead
   */
  constructor(scope: string, caller: string, reports: readonly string[] = []) {
    super('Not authorized to this endpoint.');
    this.#scope = scope;
    this.caller = caller;
    this.#reports = reports;
  }

  override get headers() {
    return { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${this.#scope}"` };
  }

  /** The scope is in the document too, because API Gateway renames the header `WWW-Authenticate`. */
  override get members() {
    return { scope: this.#scope, ...(this.#reports.length > 0 && { reports: this.#reports }) };
  }
}

/** 404: a path that does not exist, or a method that the path does not take. */
export class NotFound extends Problem {
  readonly status = 404;
  readonly slug = gatewayProblems.notFound.slug;
  readonly title = gatewayProblems.notFound.title;

  constructor() {
    super(gatewayProblems.notFound.detail);
  }
}

/**
 * 404: a waiting URL that was never given out or has expired, whose partner has lost its right to the report, or whose
 * request this release does not know.
 */
export class NoSuchDownload extends Problem {
  readonly status = 404;
  readonly slug = 'no-such-download';
  readonly title = 'No such download';

  constructor() {
    super('There is no such download, or it has expired. Request the report again.');
  }
}

/** 404: the lake has no table for the report. An empty report would look like a window without events. */
export class NoRecords extends Problem {
  readonly status = 404;
  readonly slug = 'no-records';
  readonly title = 'No records';

  constructor(reportTitle: string) {
    super(
      `This service holds no records for the ${reportTitle.toLowerCase()}: its table is missing. The operator can add it.`,
    );
  }
}

/** 500: the SQL with all companies of the client would be longer than Athena takes. Only the operator can mend that. */
export class TooManyCompanies extends Problem {
  readonly status = 500;
  readonly slug = 'too-many-companies';
  readonly title = 'Too many companies';

  constructor(count: number) {
    super(`Your client may see ${count} companies, more than one query can name. Tell the operator.`);
  }
}

/**
 * 503: AWS is overloaded, the report was not ready in time, its events kept changing, or its client had no free slot.
 * The same request may succeed later.
 */
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

/** 503: AWS throttled, failed or did not answer until the deadline. A caller that already waits goes on waiting. */
export class Overloaded extends Unavailable {}

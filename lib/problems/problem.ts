import type { APIGatewayProxyResult } from 'aws-lambda';
import { DOCUMENTS_PATH } from '../names.ts';
import { type GatewayProblem, gatewayProblems } from './gateway-problems.ts';

/** One fault of a request: the query parameter or header at fault, and what is wrong with it. */
export interface Fault {
  readonly parameter: string;
  readonly detail: string;
}

type Kind = Pick<GatewayProblem, 'status' | 'slug' | 'title'>;

interface More extends ErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the document beside those that every problem has (RFC 9457, 3.2). */
  readonly members?: Readonly<Record<string, unknown>>;
}

/**
 * An error whose cause the caller may know. Each class has a status, a stable type, a title and a public detail.
 * Every other error is a fault of the service: the caller gets a 500 without details (docs/contract.md#errors).
 */
export abstract class Problem extends Error {
  readonly status: number;
  readonly slug: string;
  readonly title: string;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor({ status, slug, title }: Kind, detail: string, { headers, members, ...options }: More = {}) {
    super(detail, options);
    this.status = status;
    this.slug = slug;
    this.title = title;
    this.detail = detail;
    this.headers = headers ?? {};
    this.members = members ?? {};
  }
}

/** 400: the faults of the request, up to `mostListed` in one answer (docs/contract.md#errors). */
export class InvalidRequest extends Problem {
  /** The most faults in one answer: a request of 8 kB can have a thousand, and each fault may list all field names. */
  static readonly mostListed = 25;

  readonly faults: readonly Fault[];

  /** The `detail` is the first fault, and how many more there are: many clients show only the `detail` of an answer. */
  constructor(faults: readonly Fault[]) {
    const [first, ...others] = faults;
    const more = others.length === 0 ? '' : ` (${others.length} more in errors)`;
    const detail = first ? `${first.parameter}: ${first.detail}${more}` : 'The request has a fault.';
    const errors = faults.slice(0, InvalidRequest.mostListed);
    const errorsLeftOut = faults.length - errors.length;
    const members = { errors, ...(errorsLeftOut > 0 && { errorsLeftOut }) };
    super(gatewayProblems.unreadable, detail, { members });
    this.faults = errors;
  }
}

/** 400: the engine stopped the query at the workgroup's limit of bytes scanned. */
export class ReportTooLarge extends Problem {
  constructor() {
    super(
      { status: 400, slug: 'report-too-large', title: 'Report too large' },
      'The report reads more data than one report may. Narrow the window, request fewer fields or add a filter.',
    );
  }
}

/** 401: no token, or an invalid one (docs/contract.md#the-token). */
export class Unauthenticated extends Problem {
  constructor(detail: string, challenge = 'Bearer error="invalid_token"') {
    const headers = { 'WWW-Authenticate': challenge };
    super({ status: 401, slug: 'unauthenticated', title: 'Unauthenticated' }, detail, { headers });
  }
}

/**
 * 401: a valid token that lacks the scope (docs/contract.md#the-scope) or the required claim, or that gives access to
 * no row of the report. The scope is in the document too, because API Gateway renames the header `WWW-Authenticate`.
 */
export class NotAuthorized extends Problem {
  /** For the log. */
  readonly caller: string;

  /** @param reports the reports that the caller may request instead */
  constructor(scope: string, caller: string, reports: readonly string[] = []) {
    const kind = { status: 401, slug: 'not-authorized', title: 'Not authorized' };
    const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
    const members = { scope, ...(reports.length > 0 && { reports }) };
    super(kind, 'Not authorized to this endpoint.', { headers, members });
    this.caller = caller;
  }
}

/** 404: a path that does not exist, or a method that the path does not take. */
export class NotFound extends Problem {
  constructor() {
    super(gatewayProblems.notFound, gatewayProblems.notFound.detail);
  }
}

/** 404: a waiting URL that is unknown, has expired, or whose partner has lost its right to the report. */
export class NoSuchDownload extends Problem {
  constructor() {
    super(
      { status: 404, slug: 'no-such-download', title: 'No such download' },
      'There is no such download, or it has expired. Request the report again.',
    );
  }
}

/** 404: the lake has no table for the report. An empty report would look like a window without events. */
export class NoRecords extends Problem {
  constructor(reportTitle: string) {
    super(
      { status: 404, slug: 'no-records', title: 'No records' },
      `This service holds no records for the ${reportTitle.toLowerCase()}: its table is missing. The operator can add it.`,
    );
  }
}

/** 500: the SQL with all companies of the client would be longer than Athena takes. Only the operator can mend that. */
export class TooManyCompanies extends Problem {
  constructor(count: number) {
    super(
      { status: 500, slug: 'too-many-companies', title: 'Too many companies' },
      `Your client may see ${count} companies, too many for one query. Do not try again: tell the operator.`,
    );
  }
}

/** 503: overload, too late, events kept changing, or no free slot. The same request may succeed later. */
export class Unavailable extends Problem {
  constructor(detail: string, retryAfterSeconds: number, options: ErrorOptions = {}) {
    const more = { ...options, headers: { 'Retry-After': String(retryAfterSeconds) } };
    super({ status: 503, slug: 'unavailable', title: 'Service unavailable' }, detail, more);
  }
}

/** 503: AWS throttled, failed or did not answer until the deadline. A caller that already waits goes on waiting. */
export class Overloaded extends Unavailable {}

const RETRY_AFTER_SECONDS = 60;
const unavailable = (detail: string) => () => new Unavailable(detail, RETRY_AFTER_SECONDS);

export const tookTooLong = /* @__PURE__ */ unavailable(
  'The report took too long and was given up. Narrow it, or request it later.',
);
/** For a caller whose time is up while its client still has no free slot. */
export const noSlotInTime = /* @__PURE__ */ unavailable(
  'Too many reports of this client were under way. Request fewer at a time, or this one later.',
);
export const dataKeepChanging = /* @__PURE__ */ unavailable(
  'The events of this window are being rewritten at this moment. Request the report again later.',
);

/** Every error that is not a `Problem` gets the same answer (docs/contract.md#errors). */
export function problemResponse(error: unknown, requestId: string, service?: string): APIGatewayProxyResult {
  const problem = error instanceof Problem ? error : { ...gatewayProblems.failed, headers: {} };
  return {
    statusCode: problem.status,
    headers: { 'Content-Type': PROBLEM_MEDIA_TYPE, 'Cache-Control': 'no-store', ...problem.headers },
    body: JSON.stringify(problemDocument(problem, requestId, service)),
  };
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/**
 * A problem document (RFC 9457). `detail` comes first, because several HTTP clients show only the first 120 characters
 * of an answer. `help` leads to the problem's entry in `docs/problems.md`: a path if the service's URL is not known, as
 * to gateway and firewall. `instance` names the request: the caller quotes it, and it stands in the log.
 */
export const problemDocument = (
  { slug, title, status, detail, members }: Kind & Pick<More, 'members'> & { readonly detail: string },
  requestId: string,
  service = '',
) => ({
  detail,
  title,
  status,
  type: `urn:problem-type:performance-reports:${slug}`,
  help: `${service}${DOCUMENTS_PATH}/problems#${slug}`,
  instance: `urn:uuid:${requestId}`,
  ...members,
});

/** An example of each class, without `NotFound`, which is the gateway's too, and subclasses. */
export const causes = (scope: string): readonly Problem[] => [
  new InvalidRequest([
    { parameter: 'requestedFields', detail: 'Unknown field "Click". Did you mean "Clicks"?' },
  ]),
  new ReportTooLarge(),
  new Unauthenticated('The access token is invalid or has expired. Request a new one.'),
  new NotAuthorized(scope, 'partner'),
  new NoRecords('Advertiser performance report'),
  new NoSuchDownload(),
  new TooManyCompanies(30_000),
  tookTooLong(),
];

/** Every problem that the functions, the gateway or the firewall send, in the order of the statuses. */
export function knownProblems(scope: string) {
  const { unreadable: _, ...gateways } = gatewayProblems;
  return [...causes(scope), ...Object.values(gateways)]
    .map((problem) => ({
      name: problem.slug,
      status: problem.status,
      headers: problem instanceof Problem ? problem.headers : {},
      document: problemDocument(problem, '0b0f6c1e-2f0e-4a8e-9f6a-0d9a0a8f6f0b'),
    }))
    .sort((a, b) => a.status - b.status);
}

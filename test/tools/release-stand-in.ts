import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { NOT_FOUND_FUNCTION, routes } from '../../lib/routes.ts';

export const STAGE = 'prod';
const SERVICE = `performance-reports-${STAGE}`;

/** A function with its alias, as Lambda stores them. */
interface Released {
  /** The commits of the function's versions 1, 2 and so on. */
  readonly commits: readonly string[];
  /** The version to which the alias `live` leads. */
  version: string;
  weights: Readonly<Record<string, number>>;
  /** Versions with an alias that marks them as taken back. */
  readonly takenBack: Set<number>;
}

interface Refusal {
  readonly status: number;
  readonly type: string;
}

/** A stand-in at one address for Lambda, CloudFormation, and the service that the aliases lead to. */
export interface ReleaseStandIn {
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  /** The functions by their names in `functions/`. */
  readonly functions: Map<string, Released>;
  /** The status of the stack that has the functions. */
  stackStatus: string;
  /** The version of each function in the stack's template. */
  stackVersions: Readonly<Record<string, number>>;
  /** The received calls, for example `UpdateAlias page 1` or `CreateAlias page taken-back-2`. */
  readonly calls: string[];
  /** Decides whether a call, given in the form of `calls`, is refused. Undefined allows the call. */
  refuse: (call: string) => Refusal | undefined;
  /**
   * Called when CloudFormation rolls a cancelled update back, at the first DescribeStacks after the cancellation.
   */
  onPutBack: () => void;
  /** The paths whose answers name no commit, with the status of these answers. */
  readonly silent: Map<string, number>;
  close(): Promise<void>;
}

/** Starts the stand-in with these functions. Each has the commits of its versions; the last version is live. */
export async function startReleaseStandIn(
  releases: Readonly<Record<string, readonly string[]>>,
): Promise<ReleaseStandIn> {
  const server = createServer(async (request, response) => {
    const {
      status = 200,
      headers = {},
      body,
    } = answer(standIn, {
      method: request.method ?? '',
      url: new URL(request.url ?? '', 'http://aws'),
      text: await text(request),
    });
    response.writeHead(status, headers).end(typeof body === 'object' ? JSON.stringify(body) : body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const standIn: ReleaseStandIn = {
    env: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
    },
    url,
    functions: new Map(
      Object.entries(releases).map(([name, commits]) => [
        name,
        { commits, version: String(commits.length), weights: {}, takenBack: new Set<number>() },
      ]),
    ),
    stackStatus: 'UPDATE_COMPLETE',
    stackVersions: Object.fromEntries(
      Object.entries(releases).map(([name, commits]) => [name, commits.length]),
    ),
    calls: [],
    refuse: () => undefined,
    onPutBack: () => {},
    silent: new Map(),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return standIn;
}

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly text: string;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body: an object is sent as JSON, a string as text. */
  readonly body?: object | string;
}

function answer(standIn: ReleaseStandIn, { method, url, text }: Call): Answer {
  const [, name, what, alias] =
    /^\/2015-03-31\/functions\/([^/]+)\/(versions|aliases|configuration)(?:\/([\w-]+))?/.exec(url.pathname) ??
    [];
  if (name !== undefined) {
    const short = name.startsWith(SERVICE) ? name.slice(SERVICE.length + 1) : '';
    const found = standIn.functions.get(short);
    if (!found) return refusal({ status: 404, type: 'ResourceNotFoundException' });
    if (what === 'versions') return versions(found, Number(url.searchParams.get('Marker') ?? 0));
    if (what === 'configuration') return configuration(found, url.searchParams.get('Qualifier'));
    if (method === 'PUT') return updateAlias(standIn, short, found, JSON.parse(text));
    return method === 'GET'
      ? { body: { Aliases: aliasesOf(found) } }
      : mark(standIn, short, found, alias ?? JSON.parse(text).Name, method === 'DELETE');
  }
  return method === 'POST'
    ? cloudFormation(standIn, new URLSearchParams(text))
    : route(standIn, url.pathname.slice(STAGE.length + 1));
}

const refusal = ({ status, type }: Refusal): Answer => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: { __type: type, message: 'made to refuse' },
});

/** Records a call. Returns the refusal if the call is refused. */
function refused({ calls, refuse }: ReleaseStandIn, call: string): Answer | undefined {
  calls.push(call);
  const found = refuse(call);
  return found && refusal(found);
}

/** The number of versions on a page. AWS's pages have fifty. */
const PAGE = 2;

function versions({ commits }: Released, from: number): Answer {
  const published = commits.map((commit, index) => ({
    Version: String(index + 1),
    LastModified: lastModified(commit),
    Environment: { Variables: { COMMIT: commit } },
  }));
  const all = [{ Version: '$LATEST', LastModified: '2026-02-01T00:00:00.000+0000' }, ...published];
  const next = from + PAGE;
  return {
    body: { Versions: all.slice(from, next), ...(next < all.length && { NextMarker: String(next) }) },
  };
}

/** The configuration of the alias's version or, for another qualifier, of the latest code. */
const configuration = ({ commits, version }: Released, qualifier: string | null): Answer => ({
  body: {
    Environment: { Variables: { COMMIT: qualifier === 'live' ? commits[Number(version) - 1] : '$LATEST' } },
  },
});

/** A commit's time of publication, in Lambda's format: 1 January for `aaa…`, 2 January for `bbb…`. */
const lastModified = (commit: string): string =>
  `2026-01-${String((commit.codePointAt(0) ?? 0) - 96).padStart(2, '0')}T00:00:00.000+0000`;

const aliasOf = ({ version, weights }: Released) => ({
  Name: 'live',
  FunctionVersion: version,
  RoutingConfig: { AdditionalVersionWeights: weights },
});

const MARK = 'taken-back-';

const aliasesOf = (found: Released) => [
  ...[...found.takenBack].map((number) => ({ Name: `${MARK}${number}`, FunctionVersion: String(number) })),
  aliasOf(found),
];

/** Makes or deletes the alias that marks a version. */
function mark(
  standIn: ReleaseStandIn,
  name: string,
  { takenBack }: Released,
  alias: string,
  isDeleted: boolean,
): Answer {
  const refusal = refused(standIn, `${isDeleted ? 'DeleteAlias' : 'CreateAlias'} ${name} ${alias}`);
  if (refusal) return refusal;
  const number = Number(alias.slice(MARK.length));
  if (isDeleted) takenBack.delete(number);
  else takenBack.add(number);
  return { status: isDeleted ? 204 : 201, body: {} };
}

interface AliasUpdate {
  readonly FunctionVersion: string;
  readonly RoutingConfig: { readonly AdditionalVersionWeights: Readonly<Record<string, number>> };
}

function updateAlias(
  standIn: ReleaseStandIn,
  name: string,
  found: Released,
  { FunctionVersion, RoutingConfig }: AliasUpdate,
): Answer {
  const refusal = refused(standIn, `UpdateAlias ${name} ${FunctionVersion}`);
  if (refusal) return refusal;
  found.version = FunctionVersion;
  found.weights = RoutingConfig.AdditionalVersionWeights;
  return { body: aliasOf(found) };
}

function cloudFormation(standIn: ReleaseStandIn, form: URLSearchParams): Answer {
  const action = form.get('Action') ?? '';
  const result = (content: string): Answer => ({
    headers: { 'content-type': 'text/xml' },
    body: `<${action}Response xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><${action}Result>${content}</${action}Result></${action}Response>`,
  });
  if (action === 'CancelUpdateStack') {
    standIn.calls.push(action);
    standIn.stackStatus = 'UPDATE_ROLLBACK_IN_PROGRESS';
    return result('');
  }
  if (action === 'ListStackResources') return result(stackResources(standIn));
  const status = standIn.stackStatus;
  if (status === 'UPDATE_ROLLBACK_IN_PROGRESS') {
    standIn.onPutBack();
    standIn.stackStatus = 'UPDATE_ROLLBACK_COMPLETE';
  }
  const output = (key: string, value: string) =>
    `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`;
  return result(
    `<Stacks><member><StackStatus>${status}</StackStatus><Outputs>${output('PartnersBucket', 'partners')}${output(
      'ApiUrl',
      `${standIn.url}/${STAGE}/`,
    )}</Outputs></member></Stacks>`,
  );
}

function stackResources({ stackVersions }: ReleaseStandIn): string {
  const resource = (type: string, id: string, status = 'UPDATE_COMPLETE') =>
    `<member><ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId><ResourceStatus>${status}</ResourceStatus></member>`;
  const version = (of: string, number: number, status?: string) =>
    resource(
      'AWS::Lambda::Version',
      `arn:aws:lambda:us-east-1:0:function:${SERVICE}-${of}:${number}`,
      status,
    );
  const members = [
    ...Object.entries(stackVersions).flatMap(([of, number]) => [
      version(of, number),
      version(of, number - 1, 'DELETE_SKIPPED'),
    ]),
  ];
  return `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>`;
}

/** The service's answer: from the version that gets a part of the requests, if any, or from the alias's version. */
function route({ functions, silent }: ReleaseStandIn, path: string): Answer {
  const found = routes.find((each) => RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
  const released = functions.get(found?.functionName ?? NOT_FOUND_FUNCTION);
  const [version] = [...Object.keys(released?.weights ?? {}), released?.version];
  const commit = released?.commits[Number(version) - 1] ?? '';
  const status = silent.get(path);
  if (status) return { status };
  return { status: found ? 401 : 404, headers: { 'Service-Version': commit } };
}

import { text } from 'node:stream/consumers';
import { PUBLIC_FUNCTION, routes } from '../../lib/routes.ts';
import { serve } from '../../local/serve.ts';

export const STAGE = 'prod';
const SERVICE = `performance-reports-${STAGE}`;
const MARK = 'taken-back-';

/** A function with its aliases, as Lambda stores them. */
interface Released {
  /** The releases of the function's versions 1, 2 and so on. */
  readonly releases: readonly string[];
  /** The version to which the alias `live` leads. */
  version: number;
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
  /** Called when CloudFormation rolls a cancelled update back, at the first DescribeStacks after the cancellation. */
  onPutBack: () => void;
  /** The paths whose answers name no release, with the status of these answers. */
  readonly silent: Map<string, number>;
  close(): Promise<void>;
}

/** Starts the stand-in with these functions. Each has the releases of its versions; the last version is live. */
export async function startReleaseStandIn(
  functions: Readonly<Record<string, readonly string[]>>,
): Promise<ReleaseStandIn> {
  const { url, close } = await serve(async (request, response) => {
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
  });
  const entries = Object.entries(functions);
  const credentials = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
  const standIn: ReleaseStandIn = {
    env: { AWS_ENDPOINT_URL: url, AWS_REGION: 'us-east-1', ...credentials },
    url,
    functions: new Map(
      entries.map(([name, releases]) => [
        name,
        { releases, version: releases.length, takenBack: new Set<number>() },
      ]),
    ),
    stackStatus: 'UPDATE_COMPLETE',
    stackVersions: Object.fromEntries(entries.map(([name, releases]) => [name, releases.length])),
    calls: [],
    refuse: () => undefined,
    onPutBack: () => {},
    silent: new Map(),
    close,
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
  if (name === undefined)
    return method === 'POST'
      ? cloudFormation(standIn, new URLSearchParams(text))
      : route(standIn, url.pathname.slice(STAGE.length + 1));
  const short = name.startsWith(SERVICE) ? name.slice(SERVICE.length + 1) : '';
  const found = standIn.functions.get(short);
  if (!found) return refusal({ status: 404, type: 'ResourceNotFoundException' });
  const { releases, version, takenBack } = found;
  if (what === 'versions') return versions(releases, Number(url.searchParams.get('Marker') ?? 0));
  if (what === 'configuration')
    return configuration(url.searchParams.get('Qualifier') === 'live' ? releases[version - 1] : '$LATEST');
  if (method === 'GET') {
    const marks = [...takenBack].map((number) => [`${MARK}${number}`, number] as const);
    const aliases = [...marks, ['live', version] as const];
    return { body: { Aliases: aliases.map(([Name, number]) => ({ Name, FunctionVersion: `${number}` })) } };
  }
  return changeAlias(standIn, short, found, { method, ...(text ? JSON.parse(text) : { Name: alias }) });
}

const refusal = ({ status, type }: Refusal): Answer => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: { __type: type, message: 'made to refuse' },
});

/** The number of versions on a page. AWS's pages have fifty. */
const PAGE = 2;

const environmentOf = (release: string | undefined) => ({ Variables: { COMMIT: release } });
const configuration = (release: string | undefined): Answer => ({
  body: { Environment: environmentOf(release) },
});

function versions(releases: readonly string[], from: number): Answer {
  const published = releases.map((release, index) => ({
    Version: String(index + 1),
    // In Lambda's format: 1 January for `aaa…`, 2 January for `bbb…`.
    LastModified: `2026-01-${String((release.codePointAt(0) ?? 0) - 96).padStart(2, '0')}T00:00:00.000+0000`,
    Environment: environmentOf(release),
  }));
  const all = [{ Version: '$LATEST', LastModified: '2026-02-01T00:00:00.000+0000' }, ...published];
  const next = from + PAGE;
  const more = next < all.length && { NextMarker: String(next) };
  return { body: { Versions: all.slice(from, next), ...more } };
}

/** Moves the alias `live`, or makes or deletes the alias that marks a version. */
function changeAlias(
  { calls, refuse }: ReleaseStandIn,
  name: string,
  found: Released,
  { method, Name, FunctionVersion }: Readonly<Record<'method' | 'Name' | 'FunctionVersion', string>>,
): Answer {
  const operation = { PUT: 'UpdateAlias', POST: 'CreateAlias', DELETE: 'DeleteAlias' }[method];
  const call = `${operation} ${name} ${method === 'PUT' ? FunctionVersion : Name}`;
  calls.push(call);
  const refused = refuse(call);
  if (refused) return refusal(refused);
  if (method === 'PUT') found.version = Number(FunctionVersion);
  else found.takenBack[method === 'POST' ? 'add' : 'delete'](Number(Name.slice(MARK.length)));
  return { status: method === 'DELETE' ? 204 : 200, body: {} };
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
  const outputs = [
    ['PartnersBucket', 'partners'],
    ['ApiUrl', `${standIn.url}/${STAGE}/`],
  ].map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return result(
    `<Stacks><member><StackStatus>${status}</StackStatus><Outputs>${outputs.join('')}</Outputs></member></Stacks>`,
  );
}

function stackResources({ stackVersions }: ReleaseStandIn): string {
  const version = (of: string, number: number, status: string) =>
    `<member><ResourceType>AWS::Lambda::Version</ResourceType><PhysicalResourceId>arn:aws:lambda:us-east-1:0:function:${SERVICE}-${of}:${number}</PhysicalResourceId><ResourceStatus>${status}</ResourceStatus></member>`;
  const members = Object.entries(stackVersions).flatMap(([of, number]) => [
    version(of, number, 'UPDATE_COMPLETE'),
    version(of, number - 1, 'DELETE_SKIPPED'),
  ]);
  return `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>`;
}

/** The answer of the version to which the alias leads. */
function route({ functions, silent }: ReleaseStandIn, path: string): Answer {
  const status = silent.get(path);
  if (status) return { status };
  const found = routes.find((each) => RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
  const { releases, version } = functions.get(found?.functionName ?? PUBLIC_FUNCTION) ?? {};
  const release = releases?.[(version ?? 0) - 1] ?? '';
  return { status: found ? 401 : 404, headers: { 'Service-Version': release } };
}

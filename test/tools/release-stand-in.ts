import { text } from 'node:stream/consumers';
import { PUBLIC_FUNCTION, routes } from '../../lib/routes.ts';
import { serve } from '../../local/serve.ts';
import { type Answer, give, list, refusal, result, stackWith } from './aws-answer.ts';

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
export async function startReleaseStandIn(functions: Readonly<Record<string, readonly string[]>>) {
  const { url, close } = await serve(async (request, response) => {
    const { method = '', url = '' } = request;
    give(response, answer(standIn, { method, url: new URL(url, 'http://aws'), text: await text(request) }));
  });
  const entries = Object.entries(functions);
  const credentials = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
  const standIn: ReleaseStandIn = {
    env: { AWS_ENDPOINT_URL: url, AWS_REGION: 'us-east-1', ...credentials },
    url,
    functions: new Map(
      entries.map(([name, releases]) => [name, { releases, version: releases.length, takenBack: new Set() }]),
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
  if (!found) return refusal('ResourceNotFoundException', 'made to refuse', 404);
  const { releases, version, takenBack } = found;
  if (what === 'versions') return versions(releases, Number(url.searchParams.get('Marker') ?? 0));
  const isLive = url.searchParams.get('Qualifier') === 'live';
  if (what === 'configuration')
    return { body: { Environment: environmentOf(isLive ? releases[version - 1] : '$LATEST') } };
  if (method === 'GET') {
    const marks = [...takenBack].map((number) => [`${MARK}${number}`, number] as const);
    const aliases = [...marks, ['live', version] as const];
    return { body: { Aliases: aliases.map(([Name, number]) => ({ Name, FunctionVersion: `${number}` })) } };
  }
  return changeAlias(standIn, short, found, { method, ...(text ? JSON.parse(text) : { Name: alias }) });
}

/** The number of versions on a page. AWS's pages have fifty. */
const PAGE = 2;

const environmentOf = (release: string | undefined) => ({ Variables: { COMMIT: release } });

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
  if (refused) return refusal(refused.type, 'made to refuse', refused.status);
  if (method === 'PUT') found.version = Number(FunctionVersion);
  else found.takenBack[method === 'POST' ? 'add' : 'delete'](Number(Name.slice(MARK.length)));
  return { status: method === 'DELETE' ? 204 : 200, body: {} };
}

function cloudFormation(standIn: ReleaseStandIn, form: URLSearchParams): Answer {
  const action = form.get('Action') ?? '';
  if (action === 'CancelUpdateStack') {
    standIn.calls.push(action);
    standIn.stackStatus = 'UPDATE_ROLLBACK_IN_PROGRESS';
    return result(action, '');
  }
  if (action === 'ListStackResources')
    return result(action, list('StackResourceSummaries', stackResources(standIn)));
  const status = standIn.stackStatus;
  if (status === 'UPDATE_ROLLBACK_IN_PROGRESS') {
    standIn.onPutBack();
    standIn.stackStatus = 'UPDATE_ROLLBACK_COMPLETE';
  }
  return stackWith({ PartnersBucket: 'partners', ApiUrl: `${standIn.url}/${STAGE}/` }, status);
}

const stackResources = ({ stackVersions }: ReleaseStandIn) =>
  Object.entries(stackVersions).flatMap(([of, number]) =>
    Object.entries({ [number]: 'UPDATE_COMPLETE', [number - 1]: 'DELETE_SKIPPED' }).map(
      ([version, ResourceStatus]) => ({
        ResourceType: 'AWS::Lambda::Version',
        PhysicalResourceId: `arn:aws:lambda:us-east-1:0:function:${SERVICE}-${of}:${version}`,
        ResourceStatus,
      }),
    ),
  );

/** The answer of the version to which the alias leads. */
function route({ functions, silent }: ReleaseStandIn, path: string): Answer {
  const status = silent.get(path);
  if (status) return { status };
  const found = routes.find((each) => RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
  const { releases, version } = functions.get(found?.functionName ?? PUBLIC_FUNCTION) ?? {};
  const release = releases?.[(version ?? 0) - 1] ?? '';
  return { status: found ? 401 : 404, headers: { 'Service-Version': release } };
}

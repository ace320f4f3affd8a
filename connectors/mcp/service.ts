/** A client of the service: the token, the fields, the days, and reports as files. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { Failure, inert } from './answer.ts';

const TRIES = 5;
const RETRIED = [429, 500, 502, 503, 504];
/** Enough for a report that takes 35 minutes (docs/clients.md#what-every-client-must-get-right). */
const MOST_HOPS = 100;
const LONGEST_PAUSE_S = 600;
/** Left alone, Node.js would let what was downloaded grow by 40 MB. */
const COLLECT_MS = 50;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

export const NAME = z.string().regex(/^\w{1,50}$/);
const TYPE = z.enum(['datetime', 'integer', 'float', 'string']);
const FIELD = z.object({ name: NAME, role: NAME, type: TYPE, meaning: z.string() });
const CATALOGUE = z.object({
  currency: NAME.default('not named by the operator'),
  access: z.object({ tokenEndpoint: z.string().optional() }).default({}),
  limits: z.looseObject({ windowDays: z.int().positive() }),
  reports: z.array(z.object({ name: NAME, fields: z.array(FIELD) })),
});
const TIME = z.iso.datetime().optional();
const DAY = z.object({ day: z.iso.date(), state: NAME, version: NAME, expectedAt: TIME });
const DAYS = z.object({ days: z.array(DAY) });
const TOKEN = z.object({ access_token: z.string() });
const DOCUMENT = z.object({ paths: z.record(z.string(), z.any()) });

export type Field = z.infer<typeof FIELD>;
export type Day = z.infer<typeof DAY>;
export type Window = readonly [startInclusive: string, endExclusive: string];
type Use<T> = (answer: Response, version: string | undefined) => Promise<T>;
type Parameters = readonly (readonly (string | undefined)[])[];

/** What a request is made for: when it ends, and who hears how it goes. */
export type Errand = { readonly signal: AbortSignal; readonly tell: (message: string) => void };

export class Service {
  readonly clientId: string;
  readonly #apiUrl: string;
  readonly #secret: string;
  #token = '';

  constructor({ API_URL, CLIENT_ID, CLIENT_SECRET }: NodeJS.ProcessEnv) {
    if (!API_URL || !CLIENT_ID || !CLIENT_SECRET)
      throw new Failure('Set API_URL, CLIENT_ID and CLIENT_SECRET in the environment: see your operator.');
    this.#apiUrl = safeUrl('API_URL', API_URL).replace(/\/+$/, '');
    this.clientId = CLIENT_ID;
    this.#secret = CLIENT_SECRET;
  }

  catalogue(errand: Errand) {
    return this.#ask('/reporting/fields', errand, parsed(CATALOGUE));
  }

  /** The days with events (docs/incremental-pull.md). */
  async days(report: string, window: Window, errand: Errand): Promise<readonly Day[]> {
    return (await this.#ask(`/reporting/${report}/days`, errand, parsed(DAYS), inWindow(window))).days;
  }

  /** Pulls a report into a file. Resolves to its data version; undefined if the data changed while they were read. */
  download(report: string, parameters: Parameters, window: Window, file: string, errand: Errand) {
    const use: Use<string | undefined> = async ({ body }, version) => {
      const timer = setInterval(collectGarbage, COLLECT_MS);
      const written = pipeline(body ?? '', createWriteStream(file), { signal: errand.signal });
      await written.finally(() => clearInterval(timer));
      return version;
    };
    return this.#ask(`/reporting/${report}`, errand, use, [...parameters, ...inWindow(window)]);
  }

  /** Asks until there is an answer to use, five times at most. Only a request with parameters has a token. */
  async #ask<T>(path: string, errand: Errand, use: Use<T>, parameters?: Parameters): Promise<T> {
    const query = new URLSearchParams({ 'api-version': '1.0' });
    for (const [name = '', value = ''] of parameters ?? []) query.append(name, value);
    for (let attempt = 1, isRenewed = false; ; attempt++) {
      let [wait, fault] = [2 ** attempt, ''];
      try {
        if (parameters) this.#token ||= await this.#newToken(errand);
        const token = parameters ? this.#token : '';
        const { answer, version } = await follow(`${this.#apiUrl}${path}?${query}`, token, errand);
        if (answer.status === 200) return await use(answer, version);
        // The service's problem, with its cure and help (docs/problems.md).
        const problem = inert((await answer.text()).replaceAll('\\"', "'"), 8_000);
        fault = `${path}: ${answer.status} ${problem.replaceAll(token || this.#secret, '…')}`;
        if (answer.status === 401 && !isRenewed) [this.#token, isRenewed, wait] = ['', true, 0];
        else if (!RETRIED.includes(answer.status)) throw new Failure(fault);
        wait = Number(answer.headers.get('retry-after')) || wait;
        if (wait > LONGEST_PAUSE_S) throw new Failure(`${fault} Come again in ${wait} s.`);
      } catch (error) {
        errand.signal.throwIfAborted();
        if (error instanceof Failure) throw error;
        // The text of other errors may contain a link, so only their codes are shown.
        const { cause, name } = error as Error & { cause?: { code?: string } };
        const code = inert(cause?.code ?? name, 40);
        fault = `${path}: the connection failed, ${code}. Can this machine reach the service?`;
      }
      if (attempt === TRIES) throw new Failure(`${fault} Tried ${TRIES} times.`);
      errand.tell(`${fault} Trying again in ${wait} s.`);
      // A random extra wait, so that clients refused at the same moment do not come again at the same moment.
      await pause((wait + Math.random() * Math.min(wait, 5)) * 1_000, undefined, { signal: errand.signal });
    }
  }

  /** A token, as any client gets it (docs/contract.md#the-token). It is used until the service refuses it. */
  async #newToken(errand: Errand): Promise<string> {
    const endpoint = (await this.catalogue(errand)).access.tokenEndpoint;
    if (!endpoint) throw new Failure('The service names no token endpoint: your operator can set it.');
    const { paths } = await this.#ask('/openapi.json', errand, parsed(DOCUMENT));
    const scope = Object.values(paths).flatMap((path) => path?.get?.security?.[0]?.accessToken ?? []);
    const client = { client_id: this.clientId, client_secret: this.#secret, scope: String(scope[0] ?? '') };
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...client });
    const url = safeUrl('The token endpoint', endpoint, this.#apiUrl);
    // A redirect would send the secret on to another host.
    const answer = await fetch(url, { method: 'POST', body, redirect: 'manual', signal: errand.signal });
    if (RETRIED.includes(answer.status)) throw new Error('Ask for the token again.');
    if (answer.status === 200) return (await parsed(TOKEN)(answer, undefined)).access_token;
    throw new Failure(`The token endpoint answers ${answer.status}. Are CLIENT_ID and CLIENT_SECRET right?`);
  }
}

/** GETs, and follows 303 by hand: the token must not go on to the storage. */
async function follow(url: string, token: string, { signal, tell }: Errand) {
  let headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  let version: string | undefined;
  for (let [hops, at] = [0, url]; hops <= MOST_HOPS; hops++) {
    const answer = await fetch(at, { redirect: 'manual', signal, headers });
    version = answer.headers.get('data-version') ?? version;
    if (answer.status < 300 || answer.status > 399) return { answer, version };
    await answer.body?.cancel();
    const location = answer.headers.get('location');
    if (answer.status !== 303 || !location)
      throw new Failure(`A redirect, ${answer.status}: set API_URL to the address that it leads to.`);
    if (hops > 0) tell('The report is still being made.');
    [at, headers] = [safeUrl('Location', location, at), {}];
  }
  throw new Failure('The report took too long. Narrow it.');
}

const inWindow = ([startInclusive, endExclusive]: Window): Parameters =>
  Object.entries({ startInclusive, endExclusive });

/** Only https; or http on this machine, unless https leads there. */
function safeUrl(what: string, text: string, from?: string): string {
  const url = URL.parse(text, from);
  const isHere = url?.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === 'https:' || (isHere && !from?.startsWith('https:'))) return url.href;
  throw new Failure(`${what} must be an https URL.`);
}

const parsed =
  <T>(form: z.ZodType<T>): Use<T> =>
  async (answer) => {
    const { data } = form.safeParse(await answer.json().catch(() => undefined));
    if (data) return data;
    throw new Failure('The service answers in another form than expected. Is API_URL right?');
  };

/** A client of the service: the token, the fields, the days, and reports as files. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { Failure, shown } from './answer.ts';

const TRIES = 5;
const RETRIED = [429, 500, 502, 503, 504];
/** Enough for a report that takes 35 minutes (docs/clients.md#what-every-client-must-get-right). */
const MOST_HOPS = 100;
const LONGEST_PAUSE_S = 600;
const MOST_BYTES = 16 * 2 ** 30;
const KEPT_MS = 300_000;
/** A token is renewed this long before it expires. */
const MARGIN_MS = 60_000;

/** Frees what was downloaded. Left alone, Node.js would let it grow. */
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const COLLECTED_BYTES = 16 * 2 ** 20;

const NAME = z.string().regex(/^\w{1,50}$/);
const COUNTED = z.object({ whereGroupedBy: NAME, otherwise: NAME }).optional();
const FIELD = z.object({ name: NAME, role: NAME, type: NAME, meaning: z.string(), countedBy: COUNTED });
const CATALOGUE = z.object({
  currency: NAME.default('not named by the operator'),
  access: z.object({ tokenEndpoint: z.string().optional() }).default({}),
  limits: z.looseObject({ windowDays: z.int().positive() }),
  reports: z.array(z.object({ name: NAME, fields: z.array(FIELD) })),
});
const DAYS = z.object({ days: z.array(z.looseObject({ day: z.iso.date(), state: NAME, version: NAME })) });
const SECONDS = z.coerce.number().catch(300);
const TOKEN = z.object({ access_token: z.string().regex(/^[!-~]+$/), expires_in: SECONDS });
const DOCUMENT = z.object({ paths: z.record(z.string(), z.any()) });

export type Catalogue = z.infer<typeof CATALOGUE>;
export type Field = z.infer<typeof FIELD>;
export type Day = z.infer<typeof DAYS>['days'][number];
export type Parameters = readonly (readonly [name: string, value: string])[];
type Window = readonly [startInclusive: string, endExclusive: string];
type Answered = { readonly answer: Response; readonly hops: number; readonly version: string | undefined };

/** What a request is made for: when it ends, and who hears how it goes. */
export type Errand = { readonly signal: AbortSignal; readonly tell: (message: string) => void };

export class Service {
  readonly apiUrl: string;
  readonly clientId: string;
  /** Names the client of this service and the form of what is kept of it, in the folder of all of a user's reports. */
  readonly owner: string;
  readonly #secret: string;
  readonly #tokenUrl: string | undefined;
  #catalogue: { readonly value: Catalogue; readonly until: number } | undefined;
  #token: { readonly value: string; readonly until: number } | undefined;

  constructor({ API_URL, CLIENT_ID, CLIENT_SECRET, TOKEN_URL }: NodeJS.ProcessEnv) {
    if (!API_URL || !CLIENT_ID || !CLIENT_SECRET)
      throw new Failure('Set API_URL, CLIENT_ID and CLIENT_SECRET in the environment: see your operator.');
    this.apiUrl = safeUrl('API_URL', API_URL).replace(/\/+$/, '');
    this.clientId = CLIENT_ID;
    this.owner = createHash('sha256').update(`1\n${this.apiUrl}\n${CLIENT_ID}`).digest('hex');
    this.#secret = CLIENT_SECRET;
    this.#tokenUrl = TOKEN_URL;
  }

  async catalogue(errand: Errand): Promise<Catalogue> {
    if (this.#catalogue && this.#catalogue.until > Date.now()) return this.#catalogue.value;
    const value = await this.#json('/reporting/fields', CATALOGUE, errand);
    this.#catalogue = { value, until: Date.now() + KEPT_MS };
    return value;
  }

  /** The days with events (docs/incremental-pull.md). */
  async days(report: string, window: Window, errand: Errand): Promise<readonly Day[]> {
    const path = `/reporting/${report}/days`;
    const { days } = await this.#json(path, DAYS, errand, inWindow(window));
    return days;
  }

  /** Pulls a report into a file. Resolves to its data version; undefined if the data changed while they were read. */
  download(report: string, parameters: Parameters, window: Window, file: string, errand: Errand) {
    const all = [...parameters, ...inWindow(window)];
    return this.#asked(`/reporting/${report}`, all, errand, async ({ answer, version }) => {
      let bytes = 0;
      async function* bounded(parts: AsyncIterable<Uint8Array>) {
        for await (const part of parts) {
          bytes += part.length;
          if (bytes > MOST_BYTES) throw new Failure('The report is larger than 16 GiB. Narrow it.');
          if (bytes % COLLECTED_BYTES < part.length) collectGarbage();
          yield part;
        }
      }
      if (!answer.body) throw new Failure('The report came without a body.');
      await pipeline(answer.body, bounded, createWriteStream(file), { signal: errand.signal });
      return version;
    });
  }

  #json<T>(path: string, form: z.ZodType<T>, errand: Errand, parameters?: Parameters): Promise<T> {
    return this.#asked(path, parameters, errand, ({ answer }) => parsed(answer, form, path));
  }

  /** Asks until there is an answer to use, five times at most. Only a request with parameters has a token. */
  async #asked<T>(
    path: string,
    parameters: Parameters | undefined,
    errand: Errand,
    use: (answered: Answered) => Promise<T>,
  ): Promise<T> {
    const query = new URLSearchParams({ 'api-version': '1.0' });
    for (const [name, value] of parameters ?? []) query.append(name, value);
    const url = `${this.apiUrl}${path}?${query}`;
    for (let attempt = 1, isRenewed = false; ; attempt++) {
      let [wait, fault] = [2 ** attempt, ''];
      try {
        const token = parameters ? await this.#bearer(errand) : '';
        const answered = await this.#follow(url, token, errand);
        const { status, headers } = answered.answer;
        if (status === 200) return await use(answered);
        const secrets = [token, this.#secret].filter(Boolean);
        const problem = `${path}: ${status}\n${await problemOf(answered.answer)}`;
        fault = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), problem);
        if (status === 401 && answered.hops === 0 && !isRenewed) {
          [this.#token, isRenewed, wait] = [undefined, true, 0];
        } else if (!RETRIED.includes(status)) throw new Failure(fault);
        wait = Number(headers.get('retry-after')) || wait;
        if (wait > LONGEST_PAUSE_S) throw new Failure(`${fault}\nCome again in ${wait} s.`);
      } catch (error) {
        errand.signal.throwIfAborted();
        if (error instanceof Failure) throw error;
        // The text of other errors may contain a link, so only their codes are shown.
        const { cause, name } = error as Error & { cause?: { code?: string } };
        fault = `${path}: the connection failed, ${shown(cause?.code ?? name, 40)}. Can this machine reach the service?`;
      }
      if (attempt === TRIES) throw new Failure(`${fault}\nTried ${TRIES} times.`);
      errand.tell(`${fault}\nTrying again in ${wait} s.`);
      // A random extra wait, so that clients refused at the same moment do not come again at the same moment.
      await pause((wait + Math.random() * Math.min(wait, 5)) * 1_000, undefined, { signal: errand.signal });
    }
  }

  /** GETs, and follows 303 by hand: the token must not go on to the storage. */
  async #follow(url: string, token: string, { signal, tell }: Errand): Promise<Answered> {
    let headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    let version: string | undefined;
    for (let [hops, at] = [0, url]; hops <= MOST_HOPS; hops++) {
      const answer = await fetch(at, { redirect: 'manual', signal, headers });
      version = answer.headers.get('data-version') ?? version;
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status > 399) return { answer, hops, version };
      await answer.body?.cancel();
      if (answer.status !== 303 || !location)
        throw new Failure(`A redirect, ${answer.status}: set API_URL to the address that it leads to.`);
      if (hops > 0) tell('The report is still being made.');
      [at, headers] = [safeUrl('Location', location, at), {}];
    }
    throw new Failure('The report took too long. Narrow it.');
  }

  /** A token, as any client gets it (docs/contract.md#the-token). */
  async #bearer(errand: Errand): Promise<string> {
    if (this.#token && this.#token.until > Date.now()) return this.#token.value;
    const endpoint = this.#tokenUrl ?? (await this.catalogue(errand)).access.tokenEndpoint;
    if (!endpoint)
      throw new Failure('The service names no token endpoint. Set TOKEN_URL; your operator knows it.');
    const { paths } = await this.#json('/openapi.json', DOCUMENT, errand);
    const scope = Object.values(paths).flatMap((path) => path?.get?.security?.[0]?.accessToken ?? [])[0];
    const client = { client_id: this.clientId, client_secret: this.#secret };
    const grant = { grant_type: 'client_credentials', ...client, scope: String(scope ?? '') };
    const body = new URLSearchParams(grant);
    // A redirect would send the secret on to another host.
    const init = { method: 'POST', body, redirect: 'manual', signal: errand.signal } as const;
    const answer = await fetch(safeUrl('The token endpoint', endpoint, this.apiUrl), init);
    if (RETRIED.includes(answer.status)) throw new Error('Ask for the token again.');
    if (answer.status !== 200)
      throw new Failure(
        `The token endpoint answers ${answer.status}. Are CLIENT_ID and CLIENT_SECRET right?`,
      );
    const { access_token: value, expires_in: seconds } = await parsed(answer, TOKEN, 'The token');
    this.#token = { value, until: Date.now() + seconds * 1_000 - MARGIN_MS };
    return value;
  }
}

const inWindow = ([startInclusive, endExclusive]: Window): Parameters =>
  Object.entries({ startInclusive, endExclusive });

/** Only https; or http on this machine, unless https leads there. */
function safeUrl(what: string, text: string, from?: string): string {
  const url = URL.canParse(text, from) ? new URL(text, from) : undefined;
  const isHere = url?.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !(isHere && !from?.startsWith('https:')))
    throw new Failure(`${what} must be an https URL.`);
  return String(url);
}

async function parsed<T>(answer: Response, form: z.ZodType<T>, what: string): Promise<T> {
  const { data } = form.safeParse(await answer.json().catch(() => undefined));
  if (!data) throw new Failure(`${what}: the answer has another form than expected. Is the address right?`);
  return data;
}

const MEMBERS = ['title', 'detail', 'errors', 'scope', 'help', 'instance'];

/** The members of the service's problem that an agent can act on, cure and help among them (docs/problems.md). */
async function problemOf(answer: Response): Promise<string> {
  const problem = Object((await answer.json().catch(() => undefined)) ?? {}) as Record<string, unknown>;
  const fault = (one: unknown) => Object.values(Object(one)).join(': ');
  const words = (value: unknown) => (Array.isArray(value) ? value.map(fault).join('; ') : value);
  const members = MEMBERS.filter((name) => name in problem);
  return members.map((name) => `${name}: ${shown(words(problem[name]), 3_000)}`).join('\n');
}

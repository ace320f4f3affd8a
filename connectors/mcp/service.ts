/** A client of the service: the token, the fields, the days, and reports as files. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { Failure, inert } from './answer.ts';

const TRIES = 5;
const RETRIED = [429, 500, 502, 503, 504];
const LONGEST_PAUSE_S = 600;
export const DAY_MS = 86_400_000;

const NAME = z.string().regex(/^\w{1,50}$/);
const TYPE = z.enum(['datetime', 'integer', 'float', 'string']);
const FIELD = z.object({ name: NAME, role: NAME, type: TYPE, meaning: z.string() });
const CATALOGUE = z.object({
  currency: NAME.default('not named by the operator'),
  limits: z.looseObject({ windowDays: z.int().positive() }),
  reports: z.array(z.object({ name: NAME, fields: z.array(FIELD) })),
});
const TEXT = z.string().max(60).optional();
const DAY = z.object({ day: z.iso.date(), state: z.string(), version: TEXT, expectedAt: TEXT });
const DAYS = z.object({ days: z.array(DAY) });
const TOKEN = z.object({ access_token: z.string() });
const UTC = z.string().max(40).describe('UTC, YYYY-MM-DDThh:mm:ssZ; the end itself is excluded');
export const WINDOW = z.strictObject({ report: NAME, startInclusive: UTC, endExclusive: UTC });

export type Window = z.infer<typeof WINDOW>;
export type Day = z.infer<typeof DAY>;
export type Field = z.infer<typeof FIELD>;
type Use<T> = (answer: Response) => Promise<T>;

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

  /** Every day of the window. The service's answer has only the days with events (docs/incremental-pull.md). */
  async days(window: Window, errand: Errand): Promise<readonly Day[]> {
    const { report, ...times } = window;
    const answer = await this.#ask(`/reporting/${report}/days`, errand, parsed(DAYS), Object.entries(times));
    const [first = 0, end = 0] = Object.values(times).map((time) => Date.parse(time) / DAY_MS);
    return Array.from({ length: Math.ceil(end) - Math.floor(first) }, (_, nth) => {
      const day = new Date((Math.floor(first) + nth) * DAY_MS).toISOString().slice(0, 10);
      return answer.days.find((one) => one.day === day) ?? { day, state: 'WITHOUT DATA' };
    });
  }

  /** Pulls a report into a file. Resolves to its data version; undefined if the data changed while they were read. */
  download({ report, ...window }: Window, parameters: string[][], file: string, errand: Errand) {
    const use = async ({ body, headers }: Response) => {
      await pipeline(body ?? '', createWriteStream(file), { signal: errand.signal });
      return headers.get('x-amz-meta-data-version') ?? undefined;
    };
    return this.#ask(`/reporting/${report}`, errand, use, [...parameters, ...Object.entries(window)]);
  }

  /**
   * Asks until there is an answer to use, five times at most. Only a request with parameters has a token. fetch takes it
   * from redirects to another host, and follows 20, which take 9 minutes: the next try waits for the same report.
   */
  async #ask<T>(path: string, errand: Errand, use: Use<T>, parameters?: string[][]): Promise<T> {
    const query = new URLSearchParams([['api-version', '1.0'], ...(parameters ?? [])] as [string, string][]);
    for (let attempt = 1, isRenewed = false; ; attempt++) {
      let [wait, fault] = [2 ** attempt, ''];
      try {
        if (parameters) this.#token ||= await this.#newToken(errand);
        const token = parameters ? this.#token : '';
        const headers = token ? { authorization: `Bearer ${token}` } : {};
        const answer = await fetch(`${this.#apiUrl}${path}?${query}`, { headers, signal: errand.signal });
        safeUrl('A redirect', answer.url, this.#apiUrl);
        if (answer.status === 200) return await use(answer);
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
        fault = `${path}: the connection failed, ${cause?.code ?? name}. Can this machine reach the service?`;
      }
      if (attempt === TRIES) throw new Failure(`${fault} Tried ${TRIES} times.`);
      errand.tell(`${fault} Trying again in ${wait} s.`);
      // A random extra wait, so that clients refused at the same moment do not come again at the same moment.
      await pause((wait + Math.random() * Math.min(wait, 5)) * 1_000, undefined, { signal: errand.signal });
    }
  }

  /** A token, as any client gets it (docs/contract.md#the-token). It is used until the service refuses it. */
  async #newToken(errand: Errand): Promise<string> {
    const { components } = await this.#ask('/openapi.json', errand, parsed(z.any()));
    const flow = components?.securitySchemes?.clientCredentials?.flows.clientCredentials;
    if (!flow) throw new Failure('The service names no token endpoint: your operator can set it.');
    const grant = { grant_type: 'client_credentials', scope: String(Object.keys(flow.scopes)) };
    const body = new URLSearchParams({ ...grant, client_id: this.clientId, client_secret: this.#secret });
    const url = safeUrl('The token endpoint', flow.tokenUrl, this.#apiUrl);
    // A redirect would send the secret on to another host.
    const answer = await fetch(url, { method: 'POST', body, redirect: 'manual', signal: errand.signal });
    if (RETRIED.includes(answer.status)) throw new Error('Ask for the token again.');
    if (answer.status === 200) return (await parsed(TOKEN)(answer)).access_token;
    throw new Failure(`The token endpoint answers ${answer.status}. Are CLIENT_ID and CLIENT_SECRET right?`);
  }
}

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

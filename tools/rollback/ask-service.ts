import { routes } from '../../lib/routes.ts';

/** One answer is not enough: Lambda may still run the other version shortly after an alias is moved. */
const ANSWERS_IN_A_ROW = 2;
const ANSWER_MS = 8_000;

/** The first path of each function. Its answer names the release even without a token. */
const PATHS: ReadonlyMap<string, string> = new Map(
  routes
    .toReversed()
    .map(({ path, functionName }) => [functionName, path.replaceAll(/\{\w+\}/g, 'rollback')]),
);

export interface Waits {
  readonly pause: () => Promise<unknown>;
  readonly mayWait: () => boolean;
}

/**
 * Asks the functions, one after the other, until each has answered twice in a row with the release, or until the time
 * is up. A stage with few executions lets few requests pass: so it pauses between two rounds, 429 says nothing, and one
 * good answer before a 429 is enough. It skips functions that no request reaches. Resolves to the paths whose last answer
 * was another one, with that answer; and to those that the stage's limits let it not hear.
 */
export async function askService(
  apiUrl: string,
  release: string,
  functionNames: readonly string[],
  { pause, mayWait }: Waits,
): Promise<{ readonly others: readonly string[]; readonly unheard: readonly string[] }> {
  const paths = functionNames.flatMap((name) => PATHS.get(name) ?? []);
  const heard = new Map<string, { readonly last: string; readonly inARow: number }>();
  const isSettled = (path: string) => (heard.get(path)?.inARow ?? 0) >= ANSWERS_IN_A_ROW;
  for (;;) {
    for (const path of paths.filter((path) => !isSettled(path))) {
      const { last, inARow } = heard.get(path) ?? { last: '', inARow: 0 };
      const answered = await releaseAt(apiUrl.replace(/\/$/, '') + path);
      if (answered !== undefined)
        heard.set(path, { last: answered, inARow: answered === release ? inARow + 1 : 0 });
      // To ask again would take the place of an honest caller.
      else if (inARow > 0) heard.set(path, { last, inARow: ANSWERS_IN_A_ROW });
      if (!mayWait()) break;
    }
    if (paths.every(isSettled) || !mayWait()) break;
    await pause();
  }
  return {
    others: [...heard].flatMap(([path, { last }]) => (last === release ? [] : [`${path}: ${last}`])),
    unheard: paths.filter((path) => !heard.has(path)),
  };
}

/** The release that the answer names or, if it names none, what came instead. Undefined if the gateway let nobody in. */
async function releaseAt(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) });
    await answer.body?.cancel();
    const release = answer.headers.get('Service-Version') ?? undefined;
    return answer.status === 429 ? release : (release ?? `${answer.status} without Service-Version`);
  } catch (error) {
    return `no answer: ${error instanceof Error ? String(error.cause ?? error.message) : error}`;
  }
}

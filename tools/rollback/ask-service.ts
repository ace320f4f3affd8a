import { NOT_FOUND_FUNCTION, routes } from '../../lib/routes.ts';

/** One answer is not enough: Lambda may still run the other version shortly after an alias is moved. */
const ANSWERS_IN_A_ROW = 2;
const ANSWER_MS = 8_000;

/** The first path of each function. Its answer names the release even without a token. */
const PATHS = new Map(
  [...routes, { path: '/rollback', functionName: NOT_FOUND_FUNCTION }]
    .toReversed()
    .map(({ path, functionName }) => [functionName, path.replaceAll(/\{\w+\}/g, 'rollback')]),
);

export interface ServiceAnswers {
  /** The paths whose last answer did not name the release, with what they answered. */
  readonly others: readonly string[];
  /** The paths that gave no answer of a function in this time, because of the stage's limits. */
  readonly unheard: readonly string[];
}

/**
 * Asks the functions, one after the other, until each has answered twice in a row with the release, or until the time
 * is up. A stage with few executions lets few requests pass: so it pauses between two rounds, 429 says nothing, and one
 * good answer before a 429 is enough. It skips functions that no request reaches.
 */
export async function askService(
  apiUrl: string,
  release: string,
  functionNames: readonly string[],
  { pause, mayWait }: { readonly pause: () => Promise<unknown>; readonly mayWait: () => boolean },
): Promise<ServiceAnswers> {
  const heard = new Map(
    functionNames.flatMap((name) => {
      const path = PATHS.get(name);
      return path === undefined ? [] : [[path, { last: undefined as string | undefined, inARow: 0 }]];
    }),
  );
  const open = () => [...heard].filter(([, { inARow }]) => inARow < ANSWERS_IN_A_ROW);
  for (;;) {
    for (const [path, state] of open()) {
      const answered = await releaseAt(apiUrl.replace(/\/$/, '') + path);
      if (answered !== undefined) {
        state.last = answered;
        state.inARow = answered === release ? state.inARow + 1 : 0;
        // To ask again would take the place of an honest caller.
      } else if (state.inARow > 0) state.inARow = ANSWERS_IN_A_ROW;
      if (!mayWait()) break;
    }
    if (open().length === 0 || !mayWait()) break;
    await pause();
  }
  return {
    others: [...heard].flatMap(([path, { last }]) =>
      last === undefined || last === release ? [] : [`${path}: ${last}`],
    ),
    unheard: [...heard].flatMap(([path, { last }]) => (last === undefined ? [path] : [])),
  };
}

/** The release that the answer names or, if it names none, what came instead. Undefined if the gateway let nobody in. */
async function releaseAt(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) });
    await answer.body?.cancel();
    const release = answer.headers.get('Service-Version');
    if (release === null && answer.status === 429) return undefined;
    return release ?? `${answer.status} without Service-Version`;
  } catch (error) {
    return `no answer: ${error instanceof Error ? String(error.cause ?? error.message) : error}`;
  }
}

import { NOT_FOUND_FUNCTION, routes } from '../../lib/routes.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** One answer is not enough: Lambda may still run the other version shortly after an alias is moved. */
const ANSWERS_IN_A_ROW = 3;
const ANSWER_MS = 10_000;

/** The first path of each function. Its answer names the commit even without a token. */
const PATHS = new Map(
  [...routes, { path: '/rollback', functionName: NOT_FOUND_FUNCTION }]
    .toReversed()
    .map(({ path, functionName }) => [functionName, path.replaceAll(/\{\w+\}/g, 'rollback')]),
);

/**
 * Waits until each function answers with `commit` several times in a row. Skips functions that no request reaches.
 * Throws an OperatorFault when the time is up. The fault names the paths that still answer with something else.
 */
export async function untilAnswered(
  apiUrl: string,
  commit: string,
  functionNames: readonly string[],
  { pause, mayWait }: { readonly pause: () => Promise<unknown>; readonly mayWait: () => boolean },
): Promise<void> {
  const others = await Promise.all(
    functionNames.map(async (name) => {
      const path = PATHS.get(name);
      if (path === undefined) return [];
      for (let inARow = 0; inARow < ANSWERS_IN_A_ROW; ) {
        const answered = await versionOf(apiUrl.replace(/\/$/, '') + path);
        if (answered === commit) inARow += 1;
        else if (mayWait()) {
          inARow = 0;
          await pause();
        } else return [`  ${path}: ${answered}`];
      }
      return [];
    }),
  );
  const lines = others.flat();
  if (lines.length > 0)
    throw new OperatorFault(
      [`The aliases are moved, but these do not answer with ${commit}:`, ...lines].join('\n'),
    );
}

/** The commit that the answer names or, if it names none, what came instead. */
async function versionOf(url: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { status, headers } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal });
    return headers.get('Service-Version') ?? `${status} without Service-Version`;
  } catch (error) {
    return `no answer: ${error instanceof Error ? String(error.cause ?? error.message) : error}`;
  }
}

/** One step of a recipe. */
export type Step =
  /** An edit of a file: the excerpt `before`, and the text `after` that replaces it. */
  | { readonly kind: 'edit'; readonly path: string; readonly before: string; readonly after: string }
  | { readonly kind: 'run'; readonly command: string };

export interface Recipe {
  readonly title: string;
  readonly steps: readonly Step[];
}

const FENCED = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm;

/** The recipes of CONTRIBUTING.md: each section with code blocks is a recipe, and each block is a step. */
export const readRecipes = (guide: string): Recipe[] =>
  guide
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf('\n')),
      steps: [...section.matchAll(FENCED)].map(([, language = '', path, text = '']) =>
        stepOf(language, path, text),
      ),
    }))
    .filter(({ steps }) => steps.length > 0);

function stepOf(language: string, path: string | undefined, text: string): Step {
  if (language === 'sh') return { kind: 'run', command: text };
  if (path === undefined) throw new Error(`a block of ${language} names no file:\n${text}`);
  const lines = text.split('\n').slice(0, -1);
  const without = (sign: string) =>
    lines
      .filter((line) => !line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  return { kind: 'edit', path, before: without('+'), after: without('-') };
}

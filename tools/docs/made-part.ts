const begin = (what: string) => `<!-- ${what}, made by \`npm run docs\`; edits here are lost. -->`;
const END = '<!-- The end of what is made. -->';

/** Replaces the generated part between a page's marks. Throws an Error if the page has no such marks. */
export function withMadePart(page: string, what: string, made: string): string {
  const [before, rest] = page.split(begin(what));
  const after = rest?.slice(rest.indexOf(END));
  if (before === undefined || !after?.startsWith(END)) throw new Error(`a page has lost its marks: ${what}`);
  return `${before}${begin(what)}\n\n${made}\n\n${after}`;
}

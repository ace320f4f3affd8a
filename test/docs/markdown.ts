const withoutCode = (page: string): string =>
  page.replaceAll(/^( *> *)?```.*?^( *> *)?```/gms, '').replaceAll(/`[^`\n]*`/g, 'code');

/** The targets, within the repository, of a page's links and pictures. */
export const linksOf = (page: string): string[] =>
  [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

/** The anchors of a page's headings: lower-case letters, digits, `-` and `_`. A repeated anchor gets a number. */
export function anchorsOf(page: string): string[] {
  const names = [...page.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name}-${before}`;
  });
}

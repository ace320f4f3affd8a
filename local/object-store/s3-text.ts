/** A text, escaped for the inside of an XML element. */
export const xmlText = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

export const xmlDocument = (root: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;

/** Percent-encodes all but RFC 3986's unreserved characters, as AWS does in signatures and listings. */
export const encodeUri = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Compares two keys as S3 sorts them, by the bytes of their UTF-8. JavaScript sorts by UTF-16, which differs. */
export function utf8Order(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

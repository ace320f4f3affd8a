/** Percent-encodes all but RFC 3986's unreserved characters, as AWS does in signatures and listings. */
export const encodeUri = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

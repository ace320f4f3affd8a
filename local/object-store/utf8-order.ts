/** Compares two keys as S3 sorts them, by the bytes of their UTF-8. JavaScript sorts by UTF-16, which differs. */
export function utf8Order(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

import { pipeline } from 'node:stream/promises';

interface Dialect {
  readonly separator: string;
  /** Whether the file begins with a byte order mark. It would stand before a quote. */
  readonly isMarked: boolean;
  readonly fields: number;
  /** Whether the operator has said the separator, and with it that the file has quotes as RFC 4180 says. */
  readonly isDeclared: boolean;
}

const [QUOTE, SPACE, LF, CR] = [0x22, 0x20, 0x0a, 0x0d];

/** What a byte stands in: the start of a field, an open text in quotes, or what follows a quote in such a text. */
const [START, PLAIN, SPACES, TEXT, CLOSED] = [0, 1, 2, 3, 4];

const [SHOWN_BYTES, MARK_BYTES] = [200, 3];

const QUOTES =
  'Put quotes around a text with a separator, a quote or a line break, and write a quote inside a text twice, ' +
  'as in "say ""hi""" (Spark: option("escape", "\\""))';

/**
 * Reads a CSV file whole, as RFC 4180 says: fields in quotes may hold separators, line breaks and doubled quotes.
 * Throws if the file deviates from that, with the line and the cure. DuckDB would read some of that as other texts.
 * Resolves to the number of records, whether a text holds a line break, and the bytes of the longest record.
 */
export async function scanCsv(
  bytes: AsyncIterable<Buffer>,
  { separator, isMarked, isDeclared, fields }: Dialect,
) {
  const SEPARATOR = separator.charCodeAt(0);
  let state = START;
  let [line, recordLine, textLine, found] = [1, 1, 1, 1];
  let [records, longest, before, from] = [-1, 0, 0, 0];
  let [isEmpty, isAfterCr, hasLineBreaks, hasBreak, hasSeparator] = [true, false, false, false, false];
  let lineEnd = '';
  let marksLeft = isMarked ? MARK_BYTES : 0;
  let carried: Buffer = Buffer.alloc(0);
  let chunk: Buffer = Buffer.alloc(0);
  const fault = (at: number, what: string, cure = QUOTES) => {
    const record = Buffer.concat([carried, chunk.subarray(from, from + SHOWN_BYTES)]).toString();
    return new Error(`line ${at}${what}: ${JSON.stringify(/^.{0,200}/.exec(record)?.[0])}. ${cure}`);
  };

  const endLine = (end: string, at: number) => {
    if (lineEnd !== '' && lineEnd !== end) {
      const words = (one: string) => one.replace('\r', 'CR').replace('\n', ' LF').trim();
      throw new Error(
        `line ${line} ends with ${words(end)}, and the lines before it end with ${words(lineEnd)}. Give all lines the same end, for example: tr -d '\\r' < export.csv > events.csv`,
      );
    }
    lineEnd = end;
    endRecord(at);
    line += 1;
    recordLine = line;
  };
  const endRecord = (at: number) => {
    const isBlank = isEmpty && found === 1;
    if (!isBlank || (fields === 1 && at > from)) {
      if (found !== fields && records >= 0)
        throw fault(
          recordLine,
          ` has ${found} ${found === 1 ? 'field' : 'fields'}, and the first line names ${fields}`,
          `Write the header first, then records alone, each with all fields. ${QUOTES}`,
        );
      records += 1;
      longest = Math.max(longest, before + at - from);
    }
    [found, isEmpty, before, from, state] = [1, true, 0, at, START];
    carried = Buffer.alloc(0);
  };
  const endText = () => {
    if (hasBreak && hasSeparator && !isDeclared && separator !== ',' && separator !== ';')
      throw fault(
        textLine,
        ' opens a quote that ends on a later line, with separators between',
        `If this is one text, say --separator ${separator === '\t' ? 'tab' : 'pipe'}. If these are single quotes of several texts, write the file as RFC 4180 says. ${QUOTES}`,
      );
    hasLineBreaks ||= hasBreak;
    [hasBreak, hasSeparator] = [false, false];
  };

  const feed = (part: Buffer) => {
    chunk = part;
    const { length } = part;
    from = Math.min(marksLeft, length);
    marksLeft -= from;
    for (let at = from; at < length; at++) {
      let byte = part[at] as number;
      if (isAfterCr) {
        isAfterCr = false;
        endLine(byte === LF ? '\r\n' : '\r', byte === LF ? at + 1 : at);
        if (byte === LF) continue;
      }
      if (state === TEXT) {
        while (byte !== QUOTE) {
          if (byte === LF || byte === CR) hasBreak = true;
          if (byte === LF) line += 1;
          if (byte === SEPARATOR) hasSeparator = true;
          if (++at === length) break;
          byte = part[at] as number;
        }
        if (at < length) state = CLOSED;
        continue;
      }
      if (state === PLAIN)
        while (byte !== SEPARATOR && byte !== LF && byte !== CR && at + 1 < length)
          byte = part[++at] as number;
      if (state === CLOSED) {
        if (byte === QUOTE) {
          state = TEXT;
          continue;
        }
        if (byte !== SEPARATOR && byte !== LF && byte !== CR)
          throw fault(line, ' has a quote inside a text in quotes, or text after the quote that ends it');
        endText();
      }
      if (byte === SEPARATOR) [found, state] = [found + 1, START];
      else if (byte === LF) endLine('\n', at + 1);
      else if (byte === CR) isAfterCr = true;
      else {
        isEmpty = false;
        if (byte === QUOTE && state === SPACES)
          throw fault(line, ' has spaces before a text in quotes', `Remove these spaces. ${QUOTES}`);
        if (state === START && byte === QUOTE) [state, textLine] = [TEXT, line];
        else state = byte === SPACE && state !== PLAIN ? SPACES : PLAIN;
      }
    }
    before += length - from;
    carried = Buffer.concat([carried, part.subarray(from)]).subarray(0, SHOWN_BYTES);
    from = 0;
    chunk = Buffer.alloc(0);
  };
  await pipeline(bytes, async (parts: AsyncIterable<Buffer>) => {
    for await (const part of parts) feed(part);
  });
  if (isAfterCr) endLine('\r', 0);
  if (state === TEXT) throw fault(textLine, ' opens a quote that never ends');
  if (state === CLOSED) endText();
  if (before > 0) endRecord(0);
  return { records: Math.max(0, records), hasLineBreaks, longest };
}

import { describe, expect, it } from 'vitest';
import { NotEngineCsv, retypeCsv } from '../../../lib/csv/retype-csv.ts';
import type { FieldType } from '../../../lib/report/catalogue.ts';

const types: Readonly<Record<string, FieldType>> = {
  ...{ Day: 'datetime', DeviceOrProxy: 'string', Clicks: 'integer', Revenue: 'float' },
};
const columns = Object.entries(types).map(([name, type]) => ({ name, type }));
const AFTER_QUOTE = 'a value that goes on after its last quote';
const NO_QUOTES = 'a value without quotes';
const CUT = 'it ends within a row';
const NO_NUMBER = 'no number in a column of numbers';
const TOO_MANY = 'a row with a column too many';
const TOO_FEW = 'a row with a column too few';
/** @param column counted from 1, as in the message */
const refusal = (fault: string, byte: number, column: number) => new NotEngineCsv(fault, byte, column - 1);

const header = '"whatever","the, engine ""calls""\nthem","x","y"\n';

async function retype(file: string, chunkBytes = Number.MAX_SAFE_INTEGER, of = columns): Promise<string> {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return Buffer.concat(await Array.fromAsync(retypeCsv(of, chunks()))).toString();
}

describe('retypeCsv', () => {
  const awkward = 'say ""hi"", you\nthere, 🦊';
  const file =
    `${header}"2026-01-01T00:00:00Z","${awkward}","12","-0.500000"\n` +
    `"2026-01-02T00:00:00Z",,"0","12345678901234567890.000001"\n` +
    `,"",,\n`;
  const report =
    '"Day","DeviceOrProxy","Clicks","Revenue"\n' +
    `"2026-01-01T00:00:00Z","${awkward}",12,-0.500000\n` +
    '"2026-01-02T00:00:00Z",,0,12345678901234567890.000001\n' +
    ',"",,\n';

  it('writes its own header, numbers without quotes, quoted texts and instants, and NULL as an empty field', async () => {
    expect(await retype(file)).toBe(report);
  });

  it('gives the same bytes for chunks of any size', async () => {
    for (let chunkBytes = 1; chunkBytes <= Buffer.byteLength(file); chunkBytes++)
      expect(await retype(file, chunkBytes)).toBe(report);
  });

  it('yields no empty piece', async () => {
    async function* bytes() {
      for (const byte of Buffer.from(file)) yield Uint8Array.of(byte);
    }
    const lengths = await Array.fromAsync(retypeCsv(columns, bytes()), ({ length }) => length);
    expect(Math.min(...lengths)).toBe(1);
  });

  it('gives only the header if there are no rows', async () => {
    expect(await retype(header)).toBe('"Day","DeviceOrProxy","Clicks","Revenue"\n');
  });

  it('tells the number of rows after the last piece, and tells none of a file that it refuses', async () => {
    const told: (number | string)[] = [];
    const rowsOf = async (text: string) => {
      for await (const { length } of retypeCsv(columns, [Buffer.from(text)], (rows) => told.push(rows)))
        told.push(length > 0 ? 'piece' : '');
    };
    await rowsOf(header);
    await rowsOf(file);
    await expect(rowsOf(`${file}"`)).rejects.toThrow(NotEngineCsv);
    expect(told).toEqual(['piece', 0, 'piece', 'piece', 3, 'piece', 'piece']);
  });

  it('writes a row whose only value is NULL as an empty line', async () => {
    expect(await retype('"x"\n\n"a"\n', undefined, [{ name: 'DeviceOrProxy', type: 'string' }])).toBe(
      '"DeviceOrProxy"\n\n"a"\n',
    );
  });

  const rows = (...texts: string[]) => texts.map((row) => `"a","b"\n${row}\n`);
  it.each<[allowed: RegExp, files: string[]]>([
    [/[0-9]/, rows('"·","x"', '"1·","x"', '"-·","x"', '"-·1","x"', '"1.·","x"', '"1.2·3","x"')],
    [/[-0-9]/, rows('"·1","x"')],
    [/[0-9.]/, rows('"1·2","x"', '"-1·2","x"')],
    [/[^"]/, rows('"1","·x"', '"1","x·"', '"1","""·x"')],
    [/"/, [...rows('·1","x"', '"1",·x"', '"1","x"·x"'), '·a","b"\n"1","x"\n']],
    [/,/, rows('"1"·')],
    [/^$/, rows('·"1","x"', '"1"·,"x"', '"1",·"x"', '"1","x"·', '·,"x"', '"1",·')],
  ])(
    'in place of the dot, takes the bytes that match %s, and refuses all others: %j',
    async (allowed, files) => {
      const pair = [...columns].reverse().slice(1, 3);
      // A piece may begin with the byte: then the loops that copy texts and digits do not see it.
      const cuts = files.flatMap((file) => [0, file.indexOf('·')].map((cut) => [file, cut] as const));
      for (const [file, cut] of cuts)
        for (let byte = 0; byte < 256; byte++) {
          const text = file.replace('·', () => String.fromCharCode(byte));
          const bytes = Buffer.from(text, 'latin1');
          const report = Array.fromAsync(
            retypeCsv(pair, [bytes.subarray(0, cut), bytes.subarray(cut)]),
            Buffer.from,
          );
          if (!allowed.test(String.fromCharCode(byte)))
            await expect(report, text).rejects.toThrow(NotEngineCsv);
          else {
            const expected = text.replace('"a","b"', '"Clicks","DeviceOrProxy"').replace(/\n"(.*?)"/, '\n$1');
            expect(Buffer.concat(await report).toString('latin1')).toBe(expected);
          }
        }
    },
  );

  const day = '"2026-01-01T00:00:00Z"';
  // The first byte after the header has the number 0. The first column has the number 1.
  it.each([
    ['a text without quotes', `${day},phone,"1","2"\n`, NO_QUOTES, 23, 2],
    ['a number without quotes', `${day},"a",1,"2"\n`, NO_QUOTES, 27, 3],
    ['a quote escaped by a backslash', `${day},"a\\"b","1","2"\n`, AFTER_QUOTE, 27, 2],
    ['a byte after a number', `${day},"a","1"2,"2"\n`, AFTER_QUOTE, 30, 3],
    ['a semicolon instead of a comma', `${day};"a";"1";"2"\n`, AFTER_QUOTE, 22, 1],
    ['CR and LF after a row', `${day},"a","1","2"\r\n`, AFTER_QUOTE, 34, 4],
    ['CR and LF after NULL', `${day},"a","1",\r\n`, NO_QUOTES, 31, 4],
    ['a row with a column too few', `${day},"a","1"\n`, TOO_FEW, 30, 3],
    ['a row with a column too many', `${day},"a","1","2","3"\n`, TOO_MANY, 34, 4],
    ['an empty line', `${day},"a","1","2"\n\n`, TOO_FEW, 35, 1],
    ['an exponent', `${day},"a","1","1.5E7"\n`, NO_NUMBER, 35, 4],
    ['NaN', `${day},"a","1","NaN"\n`, NO_NUMBER, 32, 4],
    ['an empty text in a column of numbers', `${day},"a","","2"\n`, NO_NUMBER, 28, 3],
    ['a minus without digits', `${day},"a","-","2"\n`, NO_NUMBER, 29, 3],
    ['a doubled quote in a number', `${day},"a","1""2","2"\n`, AFTER_QUOTE, 30, 3],
    ['a file that ends within the first value of a row', day.slice(0, -1), CUT, 21, 1],
    ['a file that ends after the first value of a row', day, CUT, 22, 1],
    ['a file that ends after a comma', `${day},`, CUT, 23, 2],
    ['a file that ends without an LF', `${day},"a","1","2"`, CUT, 34, 4],
    ['a row that never ends', '"1",'.repeat(100_000), TOO_MANY, 15, 4],
  ])('refuses %s, wherever the file is cut', async (_, rows, fault, byte, column) => {
    const error = refusal(fault, header.length + byte, column);
    for (const chunkBytes of [1, 2, 3, 7, 1_000_000])
      await expect(retype(header + rows, chunkBytes)).rejects.toEqual(error);
  });

  it.each([
    ['is empty', '', 'it ends within its header', 0, 1],
    ['ends within its header', '"w","x","y', 'it ends within its header', 10, 3],
    ['has a header that never ends', `"${'x'.repeat(70_000)}`, 'it ends within its header', 70_001, 1],
    ['has a header without quotes', 'w,x,y,z\n', 'a name without quotes', 0, 1],
    ['has an empty field in its header', '"w",,"y","z"\n', 'a name without quotes', 4, 2],
    ['has a header with a column too few', '"w","x","y"\n', TOO_FEW, 11, 3],
    ['has a header with a column too many', '"w","x","y","z","z"\n', TOO_MANY, 15, 4],
    ['begins with a byte order mark', `\ufeff${header}`, 'a name without quotes', 0, 1],
  ])('refuses a file that %s', async (_, file, fault, byte, column) => {
    for (const chunkBytes of [1, 3, 1_000_000])
      await expect(retype(file, chunkBytes)).rejects.toEqual(refusal(fault, byte, column));
  });

  it('throws an error whose message names the fault and its place, and quotes nothing from the file', () => {
    expect(String(refusal(NO_NUMBER, 1_234, 3))).toBe(
      "NotEngineCsv: the engine's result file is not in its CSV dialect: no number in a column of numbers (byte 1234, column 3)",
    );
  });
});

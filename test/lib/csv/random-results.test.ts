import { describe, expect, it } from 'vitest';
import { type CsvColumn, NotEngineCsv, retypeCsv } from '../../../lib/csv/retype-csv.ts';
import { type Retyped, retypeByParsing } from './parse-engine-csv.ts';
import { type RandomResult, randomResult } from './random-result.ts';

/** The report; undefined if retypeCsv refuses the file. Fails if retypeCsv changes the memory that follows a piece. */
async function retype({ columns, file, pieceBytes }: RandomResult): Promise<Retyped | undefined> {
  const memory = Buffer.concat([file, Buffer.alloc(100, 'after the file')]);
  const original = Buffer.from(memory);
  let untouched = true;
  async function* pieces() {
    for (let at = 0, end = 0; at < file.length; at = end) {
      end = Math.min(at + pieceBytes(), file.length);
      try {
        yield memory.subarray(at, end);
      } finally {
        untouched &&= memory.subarray(end).equals(original.subarray(end));
      }
    }
  }
  const report: Uint8Array[] = [];
  let rows = -1;
  const onEnd = (number: number) => {
    rows = number;
  };
  try {
    for await (const chunk of retypeCsv(columns, pieces(), onEnd)) report.push(Buffer.from(chunk));
    return { text: Buffer.concat(report).toString('latin1'), rows };
  } catch (error) {
    expect(error).toBeInstanceOf(NotEngineCsv);
    return undefined;
  } finally {
    expect(untouched).toBe(true);
  }
}

const clicks: CsvColumn = { name: 'Clicks', type: 'integer' };
const device: CsvColumn = { name: 'DeviceOrProxy', type: 'string' };

describe('retypeCsv, compared with regular expressions over the whole file', () => {
  it('gives the same report for random results, valid and broken, cut at random', async () => {
    let refused = 0;
    for (let seed = 0; seed < 3_000; seed++) {
      const result = randomResult(seed, 5);
      const report = await retype(result);
      expect(report, `the file of seed ${seed}`).toEqual(retypeByParsing(result.columns, result.file));
      if (report === undefined) refused++;
    }
    expect([refused > 300, refused < 1_200]).toEqual([true, true]);
  });

  it.each([65_535, 65_536, 1_000_000])(
    'gives the same report for large results in pieces of %i bytes',
    async (length) => {
      for (let seed = 0; seed < 2; seed++) {
        const result = { ...randomResult(seed, 3_000), pieceBytes: () => length };
        const report = retypeByParsing(result.columns, result.file);
        expect(await retype(result), `the file of seed ${seed}`).toEqual(report);
      }
    },
  );

  it('gives the same report for a file cut in two at any place', async () => {
    const columns = [clicks, device];
    const file = Buffer.from('"a\n,""","b"\n"1","x""y,\n"""""\n,""\n"-2.50","""é"\n"-13",\n"4",""""\n');
    const report = retypeByParsing(columns, file);
    expect(report).toBeDefined();
    for (let cut = 1; cut < file.length; cut++) {
      const lengths = [cut];
      const pieceBytes = () => lengths.pop() ?? file.length;
      expect(await retype({ columns, file, pieceBytes }), `cut at byte ${cut}`).toEqual(report);
    }
  });

  it('gives the same report for each of the 256 bytes at each place in a row', async () => {
    const columns = [clicks, device];
    const places = [
      ...['"·","x"', '"1·","x"', '"-·1","x"', '"1.·","x"', '"1.2·","x"', '"1"·,"x"', '"1",·"x"', '"1","·x"'],
      ...['"1","x"·', '·"1","x"'],
    ].map((place) => place.split('·') as [string, string]);
    for (let byte = 0; byte < 256; byte++)
      for (const [before, after] of places) {
        const file = Buffer.from(`"a","b"\n${before}${String.fromCharCode(byte)}${after}\n`, 'latin1');
        const report = await retype({ columns, file, pieceBytes: () => 100 });
        expect(report, `byte ${byte} behind ${before}`).toEqual(retypeByParsing(columns, file));
      }
  });

  // Each text follows the beginning of a valid file. The text may end a row or begin another row.
  it.each([
    ['a number', [clicks], '"a"\n"7"\n'],
    ['a text', [device], '"a"\n"x"\n'],
    ['a number after a text', [device, clicks], '"a","b"\n"x",'],
    ['a text after a number', [clicks, device], '"a","b"\n"7",'],
    ['a column name', [device], ''],
  ])(
    'gives the same report if any text of up to four bytes (of every kind that retypeCsv distinguishes) stands in place of %s',
    async (_, columns, before) => {
      let texts = [''];
      for (let length = 0; length <= 4; length++) {
        for (const text of texts) {
          const file = Buffer.from(before + text);
          const report = await retype({ columns, file, pieceBytes: () => 100 });
          expect(report, JSON.stringify(text)).toEqual(retypeByParsing(columns, file));
        }
        texts = texts.flatMap((text) => ['"', ',', '\n', '1', '-', '.', 'e'].map((byte) => text + byte));
      }
    },
  );
});

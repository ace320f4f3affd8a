import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { numberQuotes } from '../../../lib/csv/drop-number-quotes.ts';
import { wasm } from '../../../lib/csv/drop-number-quotes.wasm.ts';
import { type CsvColumn, retypeCsv } from '../../../lib/csv/retype-csv.ts';
import { compileWat } from '../../../local/compile-wat.ts';
import { type RandomResult, randomResult } from './random-result.ts';
import { retypeByteByByte } from './retype-byte-by-byte.ts';

const REFUSED = 'refused';

/** The report, one character a byte, or that the file is refused. Fails if memory after a piece is written to. */
async function retype({ columns, file, pieceBytes }: RandomResult): Promise<string> {
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
  try {
    for await (const chunk of retypeCsv(columns, pieces())) report.push(Buffer.from(chunk));
    return Buffer.concat(report).toString('latin1');
  } catch (error) {
    expect((error as Error).message).toContain('does not hold whole rows');
    return REFUSED;
  } finally {
    expect(untouched).toBe(true);
  }
}

function expected({ columns, file }: RandomResult): string {
  try {
    return retypeByteByByte(columns, file).toString('latin1');
  } catch {
    return REFUSED;
  }
}

const columns: readonly CsvColumn[] = [
  { name: 'Clicks', type: 'integer' },
  { name: 'DeviceOrProxy', type: 'string' },
];

describe('the kernel of retypeCsv, beside a copy that goes byte by byte', () => {
  it('makes the same of random files, sound and broken, cut at random', async () => {
    let refused = 0;
    const files = 2_000;
    for (let seed = 0; seed < files; seed++) {
      const result = randomResult(seed, 5);
      const report = await retype(result);
      expect(report, `the file of seed ${seed}`).toBe(expected(result));
      if (report === REFUSED) refused++;
    }
    expect(refused / files).toBeGreaterThan(0.1);
    expect(refused / files).toBeLessThan(0.5);
  });

  it('makes the same of a file cut in two at any place', async () => {
    const text = `${'x'.repeat(15)}""${'y'.repeat(64)},\n""""`;
    const file = Buffer.from(`"a\n,""","b"\n"1","${text}"\n,"${text}${text}"\n"-2.5",\n"3",""\n`);
    const report = retypeByteByByte(columns, file).toString('latin1');
    for (let cut = 1; cut < file.length; cut++) {
      const lengths = [cut];
      expect(await retype({ columns, file, pieceBytes: () => lengths.pop() ?? file.length })).toBe(report);
    }
  });

  // Its input holds 65,536 bytes.
  it.each([65_535, 65_536, 65_537, 131_072, 131_073, 1_000_000])(
    'makes the same of pieces of %i bytes',
    async (length) => {
      for (let seed = 0; seed < 4; seed++) {
        const result = { ...randomResult(seed, 3_000), pieceBytes: () => length };
        expect(await retype(result), `the file of seed ${seed}`).toBe(expected(result));
      }
      // All of it is kept: the output is as long as the input.
      const file = Buffer.from(`"a"\n"${'x'.repeat(140_000)}"\n`);
      const result = { columns: columns.slice(1), file, pieceBytes: () => length };
      expect(await retype(result)).toBe(expected(result));
    },
  );

  it('makes the same of every text of up to six bytes that mean something', async () => {
    let texts = [''];
    for (let length = 0; length <= 6; length++) {
      for (const text of texts) {
        const result = { columns, file: Buffer.from(`"a","b"\n${text}`), pieceBytes: () => 100 };
        expect(await retype(result), JSON.stringify(text)).toBe(expected(result));
      }
      texts = texts.flatMap((text) => ['"', ',', '\n', '1'].map((byte) => text + byte));
    }
  });
});

describe('numberQuotes', () => {
  it('takes as many columns as its table holds', () => {
    const row = Buffer.from(`${'"1",'.repeat(1_023)}"1"\n`);
    const quotes = numberQuotes(Array(1_024).fill(true));
    expect(row.subarray(0, quotes.drop(row)).toString()).toBe(`${'1,'.repeat(1_023)}1\n`);
    expect(quotes.afterRow()).toBe(true);
  });

  it('keeps files apart that take turns', () => {
    const file = '"1","a,""b"\n,"x"\n"-2.5",\n';
    const files = [
      [true, false],
      [false, true],
      [true, true],
    ].map((isNumber) => ({
      isNumber,
      quotes: numberQuotes(isNumber),
      kept: '',
    }));
    const broken = numberQuotes([true, true]);
    expect(() => broken.drop(Buffer.from('"1\n'))).not.toThrow();
    for (const character of file) {
      expect(() => numberQuotes([true, true]).drop(Buffer.from('"1"\n'))).toThrow('whole rows');
      for (const turn of files) {
        const piece = Buffer.from(character);
        turn.kept += piece.toString('latin1', 0, turn.quotes.drop(piece));
      }
    }
    for (const { isNumber, kept } of files) {
      const whole = Buffer.from(file);
      expect(kept).toBe(whole.toString('latin1', 0, numberQuotes(isNumber).drop(whole)));
    }
    expect(new Set(files.map(({ kept }) => kept)).size).toBe(3);
    expect(files.map(({ quotes }) => quotes.afterRow())).toEqual([true, true, true]);
    expect(broken.afterRow()).toBe(false);
  });

  it.each([0, 1_025])('refuses %i columns', (count) => {
    expect(() => numberQuotes(Array(count).fill(true))).toThrow('1 to 1024 columns');
  });
});

describe('drop-number-quotes.wasm.ts', () => {
  it('is what `npm run wasm` writes', async () => {
    const source = join(import.meta.dirname, '../../../lib/csv/drop-number-quotes.wat');
    expect(wasm).toBe((await compileWat(source)).toString('base64'));
  });
});

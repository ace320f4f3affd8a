import { describe, expect, it } from 'vitest';
import { retypeCsv } from '../../../lib/csv/retype-csv.ts';
import type { FieldType } from '../../../lib/report/catalogue.ts';

const columns: { name: string; type: FieldType }[] = [
  { name: 'Day', type: 'datetime' },
  { name: 'DeviceOrProxy', type: 'string' },
  { name: 'Clicks', type: 'integer' },
  { name: 'Revenue', type: 'float' },
];
const header = '"whatever","the, engine ""calls""\nthem","x","y"\n';

async function retype(file: string, chunkBytes = Number.MAX_SAFE_INTEGER, of = columns): Promise<string> {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const out: Uint8Array[] = [];
  for await (const chunk of retypeCsv(of, chunks())) out.push(chunk);
  return Buffer.concat(out).toString();
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

  it('writes its own header, bare numbers, quoted text and instants, and leaves NULL apart from empty text', async () => {
    expect(await retype(file)).toBe(report);
  });

  it('gives the same bytes however the file is cut', async () => {
    for (let chunkBytes = 1; chunkBytes <= Buffer.byteLength(file); chunkBytes++)
      expect(await retype(file, chunkBytes)).toBe(report);
  });

  it('gives the header alone where there are no rows', async () => {
    expect(await retype(header)).toBe('"Day","DeviceOrProxy","Clicks","Revenue"\n');
  });

  it('keeps a lone NULL as an empty line', async () => {
    expect(await retype('"x"\n\n"a"\n', undefined, [{ name: 'DeviceOrProxy', type: 'string' }])).toBe(
      '"DeviceOrProxy"\n\n"a"\n',
    );
  });

  it.each([
    ['is empty', ''],
    ['has a header without an end', `"${'x'.repeat(70_000)}","b","c","d"\n`],
    ['ends inside a value', `${header}"2026-01-01T00:00:00Z","a`],
    ['ends inside its header', '"x","x","y'],
    ["ends inside a row's first value", `${header}"2026-01-01T00:00:00Z`],
    ["ends after a row's first value", `${header}"2026-01-01T00:00:00Z"`],
    ['ends inside a row', `${header}"2026-01-01T00:00:00Z","a"`],
    ['has a row with a column too few', `${header}"2026-01-01T00:00:00Z","a","1"\n`],
    ['has a row with a column too many', `${header}"2026-01-01T00:00:00Z","a","1","2","3"\n`],
    ['has a row that is nothing but columns', header + '"1",'.repeat(100_000)],
  ])('refuses a file that %s', async (_, broken) => {
    await expect(retype(broken)).rejects.toThrow('does not hold whole rows');
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csvFault } from '../../tools/lake/csv-fault.ts';
import { openWriter, publisherRecord, type Writer } from './make-parquet.ts';
import { runLake } from './run-lake.ts';

let directory: string;
let writer: Writer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lake-inputs-'));
  writer = await openWriter(directory);
});
afterAll(async () => {
  writer[Symbol.dispose]();
  await rm(directory, { recursive: true });
});

/** What a column of the converted lake holds, with the number of its records. */
async function converted(input: string, column: string): Promise<unknown[][]> {
  const lake = await mkdtemp(join(directory, 'lake-'));
  const { code, stderr } = await runLake(['convert', join(directory, input), '--to', lake]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return writer.rows(
    `SELECT ${column}, count(*)::INTEGER FROM '${lake}/publisher_events/*/*.parquet' GROUP BY ALL ORDER BY ALL`,
  );
}

const write = async (path: string, text: string) => {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), text);
};

describe('a column that stands in the names of folders', () => {
  it('is read where the files do not have it', async () => {
    const record = publisherRecord({ publisher_company_id: undefined, device_or_proxy: undefined });
    for (const folder of ['31/device_or_proxy=a%2Fb', '__HIVE_DEFAULT_PARTITION__/device_or_proxy=50%'])
      await writer.file(`hive/publisher_company_id=${folder}/a.parquet`, record);
    expect(await converted('hive', 'publisher_company_id::VARCHAR, device_or_proxy')).toEqual([
      ['31', 'a/b', 1],
      [null, '50%', 1],
    ]);
  });

  it('is not read where the files have it, and no other name of a folder is', async () => {
    await writer.file('both/publisher_company_id=31/day=7/a.parquet', publisherRecord());
    expect(await converted('both', 'publisher_company_id::VARCHAR')).toEqual([['1', 1]]);
  });
});

it('takes quotes for quotes that come after the first 20,480 records', async () => {
  const record = (device: string) => `2026-01-31 12:00:00,1,7,${device}\n`;
  const header = 'event_time,placement_id,served_ads,device_or_proxy\n';
  await write('late/a.csv', `${header}${record('phone').repeat(21_000)}${record('"say ""hi"""')}`);
  expect(await converted('late', 'device_or_proxy')).toEqual([
    ['phone', 21_000],
    ['say "hi"', 1],
  ]);
});

it('says how to write a record of a CSV file that can not be read', () => {
  const cure =
    'Put quotes around a text with a separator, a quote or a line break, and write a quote inside a text twice, as in "say ""hi""" (Spark: option("escape", "\\""))';
  expect(
    csvFault(
      'Invalid Input Error: CSV Error on Line: 7\nOriginal Line: 1,"a \\"b\\""\nValue with unterminated quote found.\n\nPossible fixes:\n',
    ),
  ).toBe(
    `line 7 does not have the fields that the first line names: ${JSON.stringify('1,"a \\"b\\""')}. ${cure}`,
  );
  expect(csvFault('IO Error: the disk is gone\nmore')).toBe('IO Error: the disk is gone');
});

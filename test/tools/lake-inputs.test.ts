import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** The values of a column in the converted lake, each with its number of records. */
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

describe('a column in the names of folders', () => {
  it('is read if the files do not have this column', async () => {
    const record = publisherRecord({ publisher_company_id: undefined, device_or_proxy: undefined });
    for (const folder of ['31/device_or_proxy=a%2Fb', '__HIVE_DEFAULT_PARTITION__/device_or_proxy=50%'])
      await writer.file(`hive/publisher_company_id=${folder}/a.parquet`, record);
    expect(await converted('hive', 'publisher_company_id::VARCHAR, device_or_proxy')).toEqual([
      ['31', 'a/b', 1],
      [null, '50%', 1],
    ]);
  });

  it('is not read if the files have this column; other folder names are ignored', async () => {
    await writer.file('both/publisher_company_id=31/day=7/a.parquet', publisherRecord());
    expect(await converted('both', 'publisher_company_id::VARCHAR')).toEqual([['1', 1]]);
  });
});

it('lake convert understands quotes in a CSV file that has none in its first 20,480 records', async () => {
  const record = (device: string) => `2026-01-31 12:00:00,1,7,${device}\n`;
  const header = 'event_time,placement_id,served_ads,device_or_proxy\n';
  await write('late/a.csv', `${header}${record('phone').repeat(21_000)}${record('"say ""hi"""')}`);
  expect(await converted('late', 'device_or_proxy')).toEqual([
    ['phone', 21_000],
    ['say "hi"', 1],
  ]);
});

/** The error message of a conversion that must refuse its input. */
async function refused(...inputs: readonly string[]): Promise<string> {
  const parameters = inputs.map((input) => join(directory, input));
  const { code, stderr } = await runLake(['convert', ...parameters, '--to', join(directory, 'refused')]);
  expect(code).toBe(2);
  return stderr.replaceAll(`${directory}/`, '').trimEnd();
}

const HEADER = 'event_time,placement_id,served_ads\n';
const RECORD = '2026-01-31 12:00:00,1,7\n';

describe('a file from which some records would silently be lost', () => {
  const uneven = (fields: string, example: string) =>
    `can't be read: line 3 has ${fields}, and the first line names 3: ${JSON.stringify(example)}. Write the header first, then records alone, each with all fields`;
  const wider = 'event_time,placement_id,served_ads,clicks';

  it.each([
    [
      'a second CSV file at its end',
      `${HEADER}${RECORD}${wider}\n${`${RECORD.trim()},2\n`.repeat(9)}`,
      uneven('4 fields', wider),
    ],
    ['a comment line', `${HEADER}${RECORD}# all\n`, uneven('1 field', '# all')],
    [
      'a record after a #',
      `${HEADER}${RECORD}#${RECORD}`,
      'event_time: in 1 record, "#2026-01-31 12:00:00" is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so at the source',
    ],
    [
      'a column name that occurs twice',
      `event_time,clicks,served_ads,Clicks\n${RECORD.trim()},300\n`,
      "can't be read: its columns clicks and Clicks have one name. Leave one out, or name it otherwise",
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from(`event_time,served_ads,device_or_proxy\n2026-01-31 12:00:00,1,caf\xe9\n`, 'latin1'),
      "can't be read whole: line 2 is no UTF-8. Write the file in UTF-8",
    ],
    [
      'two kinds of line ends',
      `${HEADER}${RECORD}${RECORD.replace('\n', '\r\n')}${RECORD}`,
      "can't be read: line 3 ends with CR LF, and the lines before it end with LF. Give all lines the same end, for example: tr -d '\\r' < export.csv > events.csv",
    ],
  ])('is refused if it is a CSV file with %s', async (_what, text, says) => {
    await mkdir(join(directory, 'left'), { recursive: true });
    await writeFile(join(directory, 'left/a.csv'), text);
    expect((await refused('left/a.csv')).split('\n').at(-1)).toContain(says);
  });

  it('is refused if it is a gzip file without its end', async () => {
    const whole = gzipSync(HEADER + RECORD);
    await writeFile(join(directory, 'cut.csv.gz'), whole.subarray(0, -8));
    expect(await refused('cut.csv.gz')).toContain(
      "cut.csv.gz can't be read: it is no whole gzip file (unexpected end of file). Copy it again from its source",
    );
  });
});

it('lake convert reads clicks and clicks_1 as two columns, not as the same column twice', async () => {
  await write('like/a.csv', 'event_time,served_ads,clicks,clicks_1\n2026-01-31 12:00:00,1,7,8\n');
  expect(await converted('like', 'clicks::VARCHAR')).toEqual([['7', 1]]);
});

describe('files with records that would count twice', () => {
  it('are read once if the command names them twice', async () => {
    await write('twice/a.csv', HEADER + RECORD);
    const lake = join(directory, 'once');
    const inputs = ['twice', 'twice/a.csv', 'twice/../twice/a.csv'].map((input) => `${directory}/${input}`);
    expect((await runLake(['convert', ...inputs, '--to', lake])).stdout).toContain('1 record\n');
  });

  it('are refused if the lake is inside an input folder', async () => {
    await write('around/a.csv', HEADER + RECORD);
    const again = ['convert', join(directory, 'around'), '--to', join(directory, 'around/lake'), '--replace'];
    expect((await runLake(again)).code).toBe(0);
    expect((await runLake(again)).stderr.replaceAll(`${directory}/`, '')).toBe(
      'Nothing was written: around/lake lies in around, so that 1 file of the lake would be converted too and count twice. Name the files to convert without around/lake, or a lake elsewhere.\n',
    );
  });

  it('are refused if a lake is converted in place and a file with only records of other days would stay', async () => {
    const file = 'place/publisher_events/day=2026-01-30/a.parquet';
    await writer.file(file, publisherRecord());
    const place = join(directory, 'place');
    const { stderr } = await runLake(['convert', place, '--to', place, '--replace']);
    expect(stderr.replaceAll(`${directory}/`, '')).toBe(
      `Nothing was written: ${file} is read and lies in place, but holds no record of the day of its folder. It would stay, and its records would count twice. Convert to a lake elsewhere.\n`,
    );
  });
});

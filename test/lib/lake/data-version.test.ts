import { describe, expect, it } from 'vitest';
import { dataState, findDataState, type LakeObject, lakeDays } from '../../../lib/lake/data-version.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { wholeDay } from '../../../lib/report/utc-time.ts';
import { lakeObject } from '../delivery/memory-lake.ts';

const FOLDER = 'warehouse/publisher_events/';
const at = (path: string, more: Partial<LakeObject> = {}) => lakeObject(FOLDER + path, more);
const first = at('day=2026-01-01/a.parquet');
const second = at('day=2026-01-01/b.parquet', { bytes: 50 });
const third = at('day=2026-01-03/a.parquet');
/** The files, with another second one. */
const changed = (more: Partial<LakeObject>) => [first, { ...second, ...more }, third];
const files = [first, second, third];
/** The files, and one more object. */
const beside = (path: string) => [...files, at(path)];

const stateOf = (...objects: LakeObject[]) => dataState({ objects, listedAt: 5 }, FOLDER);
const daysOf = (...objects: LakeObject[]) => lakeDays({ objects, listedAt: 5 }, FOLDER);
const before = stateOf(...files);

describe('dataState', () => {
  it('comes from a listing, and says when the lake was listed', () => {
    expect(before).toMatchObject({ listedAt: 5, isListed: true });
    for (const digest of [before.version, before.fingerprint]) expect(digest).toMatch(/^[0-9a-f]{32}$/);
    expect(before.version).not.toBe(before.fingerprint);
  });

  it('is the same for the same listing, whatever its order', () => {
    expect(stateOf(...structuredClone(files))).toEqual(before);
    for (const order of [files.toReversed(), [second, third, first]])
      expect(stateOf(...order)).toEqual(before);
  });

  const [BOTH, FINGERPRINT, NEITHER] = ['version and fingerprint', 'fingerprint', 'nothing'] as const;
  // Athena does not read hidden files, so a report does not change with them.
  it.each<[string, string, LakeObject[]]>([
    ['one more file', BOTH, beside('day=2026-01-03/b.parquet')],
    ['a file with another name', BOTH, changed({ key: `${FOLDER}day=2026-01-01/c.parquet` })],
    ['a file with other content', BOTH, changed({ etag: '"other"' })],
    ['a file with another size', BOTH, changed({ bytes: 51 })],
    ['a file in a folder within a day', BOTH, beside('day=2026-01-03/hour=05/b.parquet')],
    ['no file at all', BOTH, []],
    ['a marker of a complete day', FINGERPRINT, beside('day=2026-01-03/_SUCCESS')],
    ['a marker of a day’s folder', FINGERPRINT, beside('day=2026-01-01/')],
    ['a folder in which a writer is at work', FINGERPRINT, beside('day=2026-01-03/_temporary/')],
    ['a marker of a folder within a day', FINGERPRINT, beside('day=2026-01-01/hour=05/')],
    ['a file that was written again unchanged', FINGERPRINT, changed({ lastModified: 2_000 })],
    ['a marker on a day without files', FINGERPRINT, beside('day=2026-01-04/_SUCCESS')],
    ['a file outside the folders of the days', FINGERPRINT, beside('notes.txt')],
    ['a file of no day', FINGERPRINT, beside('day=__HIVE_DEFAULT_PARTITION__/a.parquet')],
    ['a file that a writer has not finished', NEITHER, beside('day=2026-01-03/_temporary/0/b.parquet')],
    ['a file that Athena ignores', NEITHER, beside('day=2026-01-03/.b.parquet.crc')],
    ['a hidden file named almost like the marker', NEITHER, beside('day=2026-01-03/_SUCCESS.crc')],
    ['a hidden file outside the folders of the days', NEITHER, beside('_delta_log/1.json')],
  ])('with %s has changed in: %s', (_, changes, objects) => {
    const after = stateOf(...objects);
    const isOther = [after.version !== before.version, after.fingerprint !== before.fingerprint];
    expect(isOther).toEqual([changes === BOTH, changes !== NEITHER]);
  });

  it('counts files even if a folder above the table has a name that Athena would ignore', () => {
    const folder = '_lake/.v2/publisher_events/';
    const objects = [lakeObject(`${folder}day=2026-01-01/a.parquet`)];
    expect(lakeDays({ objects, listedAt: 5 }, folder)).toMatchObject([{ files: 1 }]);
  });

  it('never takes the end of a key for the start of the ETag', () => {
    const glued = [at('day=2026-01-01/a', { etag: 'b', bytes: 1 })];
    const split = [at('day=2026-01-01/ab', { etag: '', bytes: 1 })];
    expect(stateOf(...glued).version).not.toBe(stateOf(...split).version);
  });
});

describe('findDataState', () => {
  it('is different each time if the lake can not be listed, so that no stored report is delivered', async () => {
    const lake = { folderOf: () => FOLDER, list: async () => undefined };
    const window = wholeDay('2026-01-01');
    const request = { report: publisherReport, requestedFields: [], window, filters: [] };
    const [one, other] = [await findDataState(lake, request, 0), await findDataState(lake, request, 0)];
    const version = one?.version;
    expect(one).toEqual({ version, fingerprint: version, isListed: false, whyEmpty: 'no-match' });
    expect(version).not.toBe(other?.version);
  });
});

describe('lakeDays', () => {
  it('accepts no marker in a folder within a day, and no marker of another name', () => {
    const objects = [at('day=2026-01-03/hour=1/_SUCCESS'), at('day=2026-01-03/_SUCCESS.crc'), third];
    expect(daysOf(...objects)).toMatchObject([{ isMarkedComplete: false, files: 1 }]);
  });

  it('leaves out objects that belong to no day of the folder', () => {
    const strangers = ['day=2026-1-01/a', 'x/day=2026-01-01/a', 'day=2026-01-01', 'days/a'].map((path) =>
      at(path),
    );
    expect(daysOf(...strangers, lakeObject('other/publisher_events/day=2026-01-01/a'))).toEqual([]);
  });
});

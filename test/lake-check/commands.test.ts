import { describe, expect, it } from 'vitest';
import { convertFiles, convertLake, lakeAround } from '../../lake-check/commands.ts';

describe('the printed command that makes a lake from files', () => {
  it.each([
    ['/data/pandas.parquet', '/data/pandas.parquet --to /data/pandas-lake'],
    ['events.csv.gz', 'events.csv.gz --to events-lake'],
    ['/data/files/', '/data/files/ --to /data/files-lake'],
    ["/my data/it's", "'/my data/it'\\''s' --to '/my data/it'\\''s-lake'"],
    ['s3://bucket/files/', 's3://bucket/files/ --to s3://bucket/files-lake'],
    ['s3://bucket', 's3://bucket --to s3://bucket/lake'],
  ])('can be pasted, and writes beside the files: %s', (location, words) => {
    expect(convertFiles(location)).toBe(`\`npm run lake -- convert ${words}\``);
  });

  it('writes beside the lake if the input is a lake', () => {
    expect(convertLake('/data/lake')).toBe('`npm run lake -- convert /data/lake --to /data/lake-converted`');
  });

  it.each(['.', '../local', '..', '/data/..'])(
    'writes beside the folder that this path means: %s',
    (location) => {
      expect(convertLake(location)).toMatch(/ --to .*[^./]-converted`$|^.* --to \/-converted`$/);
    },
  );
});

describe('the lake around', () => {
  it.each([
    ['/publisher_events/x', '/'],
    ['s3://bucket/lake/publisher_events', 's3://bucket/lake'],
    ['/data/lake', undefined],
    ['/data/publisher_events_2', undefined],
  ])('%s is %s', (location, lake) => {
    expect(lakeAround(location)).toBe(lake);
  });
});

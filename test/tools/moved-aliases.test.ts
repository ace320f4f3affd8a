import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findMovedAliases, readMovedAliases } from '../../tools/doctor/moved-aliases.ts';
import { startReleaseStandIn } from './release-stand-in.ts';

describe('findMovedAliases', () => {
  const versions = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'].map((release, index) => ({
    number: index + 1,
    release,
    publishedMs: index,
    isTakenBack: false,
  }));
  const functionAt = (live: number) => [{ name: 'public', versions, live }];
  const stack = new Map([['performance-reports-prod-public', 2]]);

  it('finds an alias that leads to another version than the stack has', () => {
    expect(findMovedAliases('prod', functionAt(1), stack)).toEqual([
      {
        finding:
          'These aliases lead elsewhere than CloudFormation knows: a release was taken back.\n' +
          '  public: 1 (aaaaaaaaaaaa), deployed: 2 (bbbbbbbbbbbb)',
        remedy: expect.stringMatching(/^Nothing to do/),
      },
    ]);
  });

  it('finds nothing if each alias leads to the version of the stack', () => {
    expect(findMovedAliases('prod', functionAt(2), stack)).toEqual([]);
  });
});

describe('readMovedAliases', () => {
  it('reads to which version each alias leads, and which version the stack has now', async () => {
    const aws = await startReleaseStandIn({
      public: ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'],
      downloads: ['bbbbbbbbbbbb'],
    });
    onTestFinished(() => aws.close());
    for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
    expect(await readMovedAliases('prod')).toEqual([]);
    Object.assign(aws.functions.get('public') ?? {}, { version: 1 });
    expect(await readMovedAliases('prod')).toEqual([
      {
        finding: expect.stringMatching(/\n {2}public: 1 \(aaaaaaaaaaaa\), deployed: 2 \(bbbbbbbbbbbb\)$/),
        remedy: expect.any(String),
      },
    ]);
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    expect(await readMovedAliases('prod')).toEqual([]);
    expect(await readMovedAliases('elsewhere')).toEqual([]);
  });
});

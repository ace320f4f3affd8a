import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readMovedAliases } from '../../tools/doctor/moved-aliases.ts';
import { startReleaseStandIn } from './release-stand-in.ts';

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
        remedy: expect.stringMatching(/^Nothing to do/),
      },
    ]);
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    expect(await readMovedAliases('prod')).toEqual([]);
    expect(await readMovedAliases('elsewhere')).toEqual([]);
  });
});

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { movedAliases } from '../../tools/doctor/health.ts';
import { startReleaseStandIn } from './release-stand-in.ts';

describe('movedAliases', () => {
  it('reads to which version each alias leads, and which version the stack has now', async () => {
    const [a, b] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'] as const;
    const aws = await startReleaseStandIn({ public: [a, b], downloads: [b] });
    onTestFinished(() => aws.close());
    for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
    expect(await movedAliases('prod')).toBeUndefined();
    Object.assign(aws.functions.get('public') ?? {}, { version: 1 });
    expect(await movedAliases('prod')).toEqual({
      finding: expect.stringMatching(/\n {2}public: 1 \(aaaaaaaaaaaa\), deployed: 2 \(bbbbbbbbbbbb\)$/),
      remedy: expect.stringMatching(/^Nothing to do/),
    });
    aws.stackStatus = 'UPDATE_IN_PROGRESS';
    expect(await movedAliases('prod')).toBeUndefined();
    expect(await movedAliases('elsewhere')).toBeUndefined();
  });
});

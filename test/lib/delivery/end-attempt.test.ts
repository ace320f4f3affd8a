import { expect, it } from 'vitest';
import { recordAnswer } from '../../../lib/delivery/end-attempt.ts';
import { cachedReportKey } from '../../../lib/results/keys.ts';
import { setting, succeededRecord } from './setting.ts';

it('a cached report is not written again for the same execution, since it may name its files by now', async () => {
  const of = setting();
  const target = await of.target();
  const key = cachedReportKey(target.job);
  const { etag } = of.results.put(key, succeededRecord({ files: { plain: 1 } }));
  await recordAnswer(of.run(), target, succeededRecord({ writer: 'writer-2' }));
  expect(of.results.objects.get(key)?.etag).toBe(etag);
});

it('a cached report that is deleted while another one is recorded stays absent', async () => {
  const of = setting();
  const target = await of.target();
  const key = cachedReportKey(target.job);
  of.results.put(key, succeededRecord());
  of.results.before(`read ${key}`, () => of.results.objects.delete(key));
  await recordAnswer(of.run(), target, succeededRecord({ executionId: 'q2' }));
  expect(of.results.objects.size).toBe(0);
});

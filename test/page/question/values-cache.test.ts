import { describe, expect, it } from 'vitest';
import { type ValuesQuestion, valuesCache } from '../../../page/src/question/values-cache.ts';

const january = { first: '2026-01-01', last: '2026-01-31' };
const march = { first: '2026-03-01', last: '2026-03-31' };
const caller = (key: string) => ({ key, id: key, token: async () => '' });
const report = 'publisherperformance';
const question: ValuesQuestion = { caller: caller('a'), report, dimension: 'DeviceOrProxy', days: january };

function watched(versions: { now: string | undefined }, fails: { now: boolean } = { now: false }) {
  const asked: ValuesQuestion[] = [];
  const values = valuesCache(
    async () => versions.now,
    async (asking) => {
      asked.push(asking);
      if (fails.now) throw new Error('busy');
      return { metric: 'ServedAds', values: [], count: asked.length, total: 0 };
    },
  );
  return { values, asked };
}

describe('valuesCache', () => {
  it('asks a question only once, even if it comes twice at the same time', async () => {
    const { values, asked } = watched({ now: 'v1' });
    const [one, two] = await Promise.all([values(question), values({ ...question, days: { ...january } })]);
    expect(await values(question)).toBe(one);
    expect(two).toBe(one);
    expect(asked).toEqual([question]);
  });

  it.each<[string, Partial<ValuesQuestion>]>([
    ['caller', { caller: caller('b') }],
    ['report', { report: 'advertiserperformance' }],
    ['dimension', { dimension: 'PlacementId' }],
    ['first day', { days: { ...january, first: '2026-01-02' } }],
    ['last day', { days: { ...january, last: '2026-01-30' } }],
  ])('asks again for another %s, and keeps both answers', async (_, change) => {
    const { values, asked } = watched({ now: 'v1' });
    for (const next of [question, { ...question, ...change }, question]) await values(next);
    expect(asked).toEqual([question, { ...question, ...change }]);
  });

  it('asks again if the data of the days have changed', async () => {
    const versions = { now: 'v1' };
    const { values, asked } = watched(versions);
    await values(question);
    versions.now = 'v2';
    await values(question);
    expect(asked).toHaveLength(2);
  });

  it('drops its answers at a question for other days if the service reports no versions', async () => {
    const { values, asked } = watched({ now: undefined });
    await values(question);
    await values({ ...question, dimension: 'PlacementId' });
    await values(question);
    expect(asked).toHaveLength(2);
    await values({ ...question, days: march });
    await values(question);
    expect(asked).toHaveLength(4);
  });

  it('rejects if the question fails, and does not keep the failure', async () => {
    const fails = { now: true };
    const { values, asked } = watched({ now: 'v1' }, fails);
    await expect(values(question)).rejects.toThrow('busy');
    fails.now = false;
    expect((await values(question)).count).toBe(2);
    expect(asked).toHaveLength(2);
  });

  it('drops the oldest of more than fifty answers', async () => {
    const { values, asked } = watched({ now: 'v1' });
    const of = (index: number) => ({ ...question, dimension: `d${index}` });
    for (let index = 0; index <= 50; index++) await values(of(index));
    await values(of(1));
    expect(asked).toHaveLength(51);
    await values(of(0));
    expect(asked).toHaveLength(52);
  });
});

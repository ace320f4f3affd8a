import { describe, expect, it } from 'vitest';
import { NoSuchDownload } from '../../../lib/answers/problem.ts';
import type { ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { issueTicket, readTicket, type Ticket } from '../../../lib/delivery/ticket.ts';

const bucket = () => {
  const objects = new Map<string, unknown>();
  const results = {
    write: async (key: string, document: unknown) => void objects.set(key, document),
    read: async (key: string) => (objects.has(key) ? { document: objects.get(key), etag: 'x' } : undefined),
  } as unknown as ResultsBucket;
  return { objects, results };
};
const ticket = (expiresAt: number) => ({ report: 'publisherperformance', expiresAt }) as unknown as Ticket;

describe('a ticket', () => {
  it('is found by its id, of which no two are alike', async () => {
    const { results, objects } = bucket();
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => issueTicket(results, ticket(Date.now() + 60_000))),
    );
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await readTicket(results, ids[0] ?? '')).toMatchObject({ report: 'publisherperformance' });
    expect([...objects.keys()][0]).toBe(`tickets/${ids[0]}.json`);
  });

  it('is not found once it has expired', async () => {
    const { results } = bucket();
    const id = await issueTicket(results, ticket(Date.now() - 1));
    await expect(readTicket(results, id)).rejects.toThrow(NoSuchDownload);
  });

  it.each(['', 'x', '../orders/1', 'A'.repeat(43), `${'A'.repeat(43)}A`])(
    'is not found by %j',
    async (id) => {
      await expect(readTicket(bucket().results, id)).rejects.toThrow(NoSuchDownload);
    },
  );
});

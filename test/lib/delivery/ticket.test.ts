import { describe, expect, it } from 'vitest';
import { NoSuchDownload } from '../../../lib/answers/problem.ts';
import { issueTicket, readTicket, type Ticket, updateTicket } from '../../../lib/delivery/ticket.ts';
import { memoryBucket } from './memory-bucket.ts';

const NOW = 1_700_000_000_000;
const ticket: Ticket = {
  form: 1,
  report: 'publisherperformance',
  parameters: { requestedFields: ['Day,Clicks'], 'filter[PlacementId]': ['1', '2'] },
  companies: ['9223372036854775807'],
  client: 'first-partner',
  progress: {
    data: { version: 'v1', trace: 't1', listedAt: NOW, isListed: true },
    token: 'token-1',
    cacheStatus: 'miss',
    moves: 0,
  },
  giveUpAt: NOW + 1,
  publishUntil: NOW + 2,
  expiresAt: NOW + 60_000,
};
const issued = async (more: Partial<Ticket> = {}) => {
  const results = memoryBucket();
  const id = await issueTicket(results, { ...ticket, ...more });
  return { results, id, key: `tickets/${id}.json` };
};

describe('a ticket', () => {
  it('is found by its id, with all its members', async () => {
    const { results, id, key } = await issued();
    expect([...results.objects.keys()]).toEqual([key]);
    expect(await readTicket(results, id, NOW)).toMatchObject({ id, ticket });
  });

  it('has an id of 256 random bits, of which no two are alike', async () => {
    const results = memoryBucket();
    const ids = await Promise.all(Array.from({ length: 50 }, () => issueTicket(results, ticket)));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('may be for every company', async () => {
    const { results, id } = await issued({ companies: 'every-company' });
    expect((await readTicket(results, id, NOW)).ticket.companies).toBe('every-company');
  });

  it.each(['hit', 'miss', 'collapsed'] as const)('may hold the cache status %s', async (cacheStatus) => {
    const { results, id } = await issued({ progress: { ...ticket.progress, cacheStatus } });
    expect((await readTicket(results, id, NOW)).ticket.progress.cacheStatus).toBe(cacheStatus);
  });

  it('is found until just before it expires', async () => {
    const { results, id } = await issued();
    await expect(readTicket(results, id, ticket.expiresAt - 1)).resolves.toBeDefined();
    await expect(readTicket(results, id, ticket.expiresAt)).rejects.toThrow(NoSuchDownload);
  });

  it.each(['', 'x', '../orders/1', `${'A'.repeat(43)}A`, `/${'A'.repeat(43)}`])(
    'is not looked for by the malformed id %j',
    async (id) => {
      const results = memoryBucket();
      results.put(`tickets/${id}.json`, ticket);
      await expect(readTicket(results, id, NOW)).rejects.toThrow(NoSuchDownload);
      expect(results.calls).toEqual([]);
    },
  );

  it('is not found by an id that nobody was given', async () => {
    await expect(readTicket(memoryBucket(), 'A'.repeat(43), NOW)).rejects.toThrow(NoSuchDownload);
  });

  it.each<[string, object]>([
    ['of another form', { form: 2 }],
    ['of an earlier version of the service', { form: undefined, query: { sql: 'SELECT 1' } }],
    ['whose companies are numbers', { companies: [1] }],
    ['with an unknown cache status', { progress: { ...ticket.progress, cacheStatus: 'stale' } }],
    ['without an expiry', { expiresAt: undefined }],
  ])('%s counts as absent', async (_, more) => {
    const { results, id, key } = await issued();
    results.put(key, { ...ticket, ...more });
    await expect(readTicket(results, id, NOW)).rejects.toThrow(NoSuchDownload);
  });
});

describe('updateTicket', () => {
  const { companies } = ticket;
  const later = { progress: { ...ticket.progress, token: 'token-2', moves: 1 }, companies };

  it('stores the progress of the delivery, and leaves the rest as it was', async () => {
    const { results, id } = await issued();
    await updateTicket(results, await readTicket(results, id, NOW), later);
    expect((await readTicket(results, id, NOW)).ticket).toEqual({ ...ticket, ...later });
  });

  it('writes nothing where nothing has changed', async () => {
    const { results, id } = await issued();
    await updateTicket(results, await readTicket(results, id, NOW), {
      progress: { ...ticket.progress },
      companies,
    });
    expect(results.calls.filter((call) => call.startsWith('replace'))).toEqual([]);
  });

  it('stores whose rows it holds, where those have changed', async () => {
    const { results, id } = await issued();
    const narrowed = { progress: ticket.progress, companies: ['7'] };
    await updateTicket(results, await readTicket(results, id, NOW), narrowed);
    expect((await readTicket(results, id, NOW)).ticket.companies).toEqual(['7']);
  });

  it("does not undo another request's update", async () => {
    const { results, id } = await issued();
    const [first, second] = [await readTicket(results, id, NOW), await readTicket(results, id, NOW)];
    await updateTicket(results, first, later);
    await updateTicket(results, second, {
      ...later,
      progress: { ...later.progress, token: 'token-3' },
    });
    expect((await readTicket(results, id, NOW)).ticket.progress.token).toBe('token-2');
  });
});

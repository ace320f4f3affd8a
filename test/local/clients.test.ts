import { describe, expect, it } from 'vitest';
import { byOwner } from '../../lib/report/catalogue.ts';
import {
  describeRows,
  PARTNERS_OF_SAMPLE_EVENTS,
  readPartners,
  SAMPLE_PARTNERS,
} from '../../local/clients.ts';

const MANY = Array.from({ length: 30_000 }, (_, id) => `${id + 1e6}`);
const read = (entries: unknown) => readPartners(JSON.stringify(entries));

describe('the partners file of this machine', () => {
  it('can have records like those of the register, with the secret of each client', () => {
    const record = {
      form: 1,
      client: 'client-1',
      name: 'first-partner',
      ...byOwner(() => []),
      publisherCompanies: ['7'],
      advertiserCompanies: 'every-company',
      contact: 'reports@partner.example',
      since: '2025-06-01T00:00:00Z',
      active: false,
    };
    expect(read([{ ...record, secret: 'hush' }])).toEqual([{ record, secret: 'hush' }]);
  });

  it('gets defaults for the members that it leaves out', () => {
    const partner = { name: 'acme', publisherCompanies: ['7'] };
    const record = { ...partner, form: 1, client: 'acme', advertiserCompanies: [], active: true };
    expect(read([partner])).toMatchObject([{ record, secret: undefined }]);
  });

  it.each<[string, unknown, RegExp]>([
    ['an object in place of the list', { name: 'acme' }, /the file: .*array/i],
    ['an empty list', [], /names no partner/],
    ['an invalid name', [{ name: 'Acme Inc' }], /^0\.name: /],
    ['an unknown member', [{ name: 'acme', companies: ['7'] }], /^0\.companies: /],
    ['one name twice', [{ name: 'a' }, { name: 'a', client: 'b' }], /two partners have the name "a"/],
    ['one client twice', ['a', 'b'].map((name) => ({ name, client: 'c' })), /the client "c"/],
    ['too many companies', [{ name: 'a', publisherCompanies: MANY }], /^0\.publisherCompanies: more than a/],
  ])('is refused if it has %s', (_, entries, fault) => {
    expect(() => read(entries)).toThrow(fault);
  });

  it('is optional: without it, the first partner of the sample events sees rows of both reports', () => {
    expect(PARTNERS_OF_SAMPLE_EVENTS.slice(1)).toEqual(SAMPLE_PARTNERS);
    expect(PARTNERS_OF_SAMPLE_EVENTS.slice(0, 1).map(describeRows)).toEqual([
      'publisher companies 1001; advertiser companies 2000',
    ]);
  });
});

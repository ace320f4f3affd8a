import { describe, expect, it } from 'vitest';
import { type PartnerRecord, parseDocument, readPartner } from '../../../lib/access/partner-record.ts';
import { verdictOnPartner } from '../../../lib/access/whose-rows.ts';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import { PARTNER as record } from '../http/setting.ts';

const without = (member: keyof PartnerRecord) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== member));
const read = (document: unknown) => readPartner(document, 'client-1');

describe('readPartner', () => {
  it.each<[string, object]>([
    ['all members', {}],
    ['every company', { publisherCompanies: 'every-company' }],
    ['the lowest and highest id', { publisherCompanies: ['-9223372036854775808', '9223372036854775807'] }],
    ['no company at all', { publisherCompanies: [] }],
    ['a name of one letter', { name: 'a' }],
    ['the longest possible name, of digits and hyphens', { name: `${'1-'.repeat(31)}23` }],
    ['an empty contact', { contact: '' }],
    ['a fraction of a second in its date', { since: '2026-01-01T00:00:00.123Z' }],
    ['the member active set to false', { active: false }],
    ['empty annotations', { annotations: {} }],
  ])('reads a record with %s', (_, change) => {
    expect(read({ ...record, ...change })).toEqual({ ...record, ...change });
  });

  it('reads only a client of 1 to 256 characters', () => {
    const clients = [0, 1, 256, 257].map((length) => 'c'.repeat(length));
    const read = clients.map((client) => readPartner({ ...record, client }, client)?.client);
    expect(read).toEqual([undefined, ...clients.slice(1, 3), undefined]);
  });

  it.each(['publisherCompanies', 'advertiserCompanies'] as const)(
    'reads an older record without %s as if that list were empty',
    (owner) => {
      expect(read(without(owner))).toEqual({ ...record, [owner]: [] });
    },
  );

  it.each(['form', 'client', 'name', 'contact', 'since', 'active'] as const)(
    'refuses a record without %s',
    (member) => {
      expect(read(without(member))).toBeUndefined();
    },
  );

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a list', [record]],
    ['an unknown member, which may be a restriction', { ...record, until: '2026-02-01' }],
    ['an unknown member beside annotations', { ...record, annotations: {}, until: '2026-02-01' }],
    ['annotations that are no object', { ...record, annotations: 'until 2026-02-01' }],
    ['another format version', { ...record, form: 2 }],
    ['another client', { ...record, client: 'client-2' }],
    ['a company that is a number', { ...record, publisherCompanies: [7] }],
    ['a company id beyond 64 bits', { ...record, publisherCompanies: ['9223372036854775808'] }],
    ['a company that is no id, among valid ids', { ...record, publisherCompanies: ['7', 'x'] }],
    ['a star for every company', { ...record, publisherCompanies: '*' }],
    ['the word every-company within a list', { ...record, publisherCompanies: ['every-company'] }],
    ['advertiser companies that are no list', { ...record, advertiserCompanies: { id: '7' } }],
    ['a name with a hyphen at its end', { ...record, name: 'partner-' }],
    ['a name with two hyphens side by side', { ...record, name: 'first--partner' }],
    ['a name in upper case', { ...record, name: 'Partner' }],
    ['a name of 65 characters', { ...record, name: 'p'.repeat(65) }],
    ['a contact that is no text', { ...record, contact: null }],
    ['a member active that is no boolean', { ...record, active: 'true' }],
  ])('refuses a record that is or holds %s', (_, document) => {
    expect(read(document)).toBeUndefined();
  });
});

describe('annotations', () => {
  it('never affect access, even if they have the names of members that do', () => {
    const restrictions = { active: 'false', publisherCompanies: 'every-company', form: '2' };
    const annotations = { ...restrictions, until: '2026-02-01' };
    const annotated = read({ ...record, annotations });
    expect(annotated).toEqual({ ...record, annotations });
    for (const report of [publisherReport, advertiserReport])
      expect(verdictOnPartner(annotated, report)).toEqual(verdictOnPartner(record, report));
  });
});

describe('parseDocument', () => {
  it.each([
    ...['{}', '[]', '"a:b"', 'null', '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}', '{"a":"\\u003a"}'],
    ...['{"a":{"a":{"a":"\\\\"}},"\\\\\\"":1,"":":"}', '{"b":1e999,"1":-0,"0":1.0}'],
    '{"__proto__":{"a":1},"constructor":2,"toJSON":3}',
  ])('gives the value of %s', (text) => {
    expect(parseDocument(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['', 'an empty text'],
    ['{', 'no JSON'],
    ['{"a":1,"a":1}', 'a member twice'],
    ['[{"b":{"a":1,"b":2,"a":3}}]', 'a member twice, in an inner object'],
    ['{"a":1,"\\u0061":1}', 'a member twice, written in two ways'],
    ['{"":1,"":2}', 'a member with an empty name twice'],
    ['{"__proto__":1,"__proto__":2}', 'the member __proto__ twice'],
    ['{"a":{"b":1},"a":{"b":1,"c":2}}', 'a member twice, the last one with more members'],
    ['{"a":{"b":1,"c":2},"a":{}}', 'a member twice, the last one empty'],
  ])('gives undefined for %s: %s', (text) => {
    expect(parseDocument(text)).toBeUndefined();
  });
});

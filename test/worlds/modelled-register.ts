import { COMPANIES } from './modelled-lake.ts';
import { idOf } from './read-query.ts';
import type { ServiceCode } from './service-code.ts';
import type { World } from './world.ts';

/** The register's record of a partner. Undefined if the partner has none. */
export type Entry =
  | { readonly isActive: boolean; readonly companies: readonly number[] | 'every-company' }
  | undefined;

/** The register of partners, and the history of its entries. */
export interface ModelledRegister {
  set(partner: string, entry: Entry): void;
  textAt(key: string): string | undefined;
  entryOf(partner: string): Entry;
  /** The entries that a partner had at any moment between `from` and `to`, and since when it had them. */
  during(partner: string, from: number, to: number): { readonly from: number; readonly entry: Entry }[];
}

/** A partner's client id. */
export const clientOf = (partner: string): string => `client-${partner}`;

export function modelledRegister(
  world: World,
  { partnerKey }: Pick<ServiceCode, 'partnerKey'>,
): ModelledRegister {
  const history = new Map<string, { readonly from: number; readonly entry: Entry }[]>();
  const keys = new Map<string, string>();
  const entryOf = (partner: string) => history.get(partner)?.at(-1)?.entry;
  return {
    entryOf,
    set(partner, entry) {
      keys.set(partnerKey(clientOf(partner)), partner);
      history.set(partner, [...(history.get(partner) ?? []), { from: world.time.now(), entry }]);
      world.tell?.('register', `${partner}: ${entry ? JSON.stringify(entry) : 'removed'}`);
    },
    textAt(key) {
      const partner = keys.get(key);
      const entry = partner === undefined ? undefined : entryOf(partner);
      if (partner === undefined || !entry) return undefined;
      return JSON.stringify({
        form: 1,
        client: clientOf(partner),
        name: partner,
        publisherCompanies: storedCompanies(entry),
        contact: 'someone@partner.example',
        since: '2026-01-01T00:00:00Z',
        active: entry.isActive,
      });
    },
    during: (partner, from, to) =>
      (history.get(partner) ?? []).filter(
        (each, index, all) => each.from <= to && (all[index + 1]?.from ?? Number.POSITIVE_INFINITY) >= from,
      ),
  };
}

/** An entry's companies as the register's record and tickets name them. */
export const storedCompanies = ({ companies }: NonNullable<Entry>) =>
  companies === 'every-company' ? companies : companies.map(idOf);

/** The companies whose rows an entry gives access to. */
export const openedBy = (entry: Entry): readonly number[] => {
  if (!entry?.isActive) return [];
  return entry.companies === 'every-company' ? COMPANIES : entry.companies;
};

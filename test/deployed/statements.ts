import { readFileSync } from 'node:fs';
import { reports } from '../../lib/report/catalogue.ts';

const security = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');

/** A row of the table of roles: statement, actions, who has it, and what it is known by. */
const ROW = /^\| `(\w+)` \| (\w+): ([^|]+) \|.*\| ([^|]+) \|[^|]+\| (proven here|AWS only: [^|]+) \|$/gm;

const names = reports.map(({ name }) => name);
const NAMED: Readonly<Record<string, readonly string[]>> = {
  reports: names,
  days: names.map((name) => `${name}-days`),
};
const ALL = 'reports, days, downloads, public, publish, abandon, probe, release-check';

/**
 * Every statement of every function's role, as docs/security.md lists them. A statement is proven here if a test takes it,
 * or a part of it, out of the deployed role and sees the function fail. The emulator does not need the others, such as
 * those by which Athena reads tables and events with the rights of the function that starts the query.
 */
export const statements = [...security.matchAll(ROW)].map(
  ([, sid = '', service, actions = '', who = '', knownBy]) => ({
    sid,
    actions: actions.split(', ').map((action) => `${service}:${action}`),
    functions: (who === 'all' ? ALL : who).split(', ').flatMap((name) => NAMED[name] ?? [name]),
    isProven: knownBy === 'proven here',
  }),
);

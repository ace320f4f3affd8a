import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldOf, reportOf } from '../../lib/report/catalogue.ts';
import { accessToken } from '../../local/access-token.ts';
import type { Client } from '../../local/identity-provider/identity-provider.ts';
import { startIn } from '../clients/npm-start.ts';

/** A field that only the copied tree has, and its values in a report by day on the sample events. */
export interface PulledField {
  readonly name: string;
  readonly values: readonly string[];
}

interface Catalogue {
  readonly reports: readonly {
    readonly name: string;
    readonly path: string;
    readonly fields: readonly { readonly name: string }[];
  }[];
}

/** Runs `npm start` in a copy of the tree, and pulls a report with each field that is new in the copy. */
export async function pullNewFields(directory: string): Promise<PulledField[]> {
  const home = join(directory, '.local');
  const { stop } = await startIn(home, {}, directory);
  try {
    const stack = JSON.parse(await readFile(join(home, 'stack.json'), 'utf8'));
    const house = stack.clients.find(({ clientId }: Client) => clientId === 'house');
    const token = await accessToken({ ...stack, ...house });
    const headers = { Authorization: `Bearer ${token}`, Accept: 'text/csv' };
    const { reports } = (await (await fetch(`${stack.apiUrl}/reporting/fields`)).json()) as Catalogue;
    const pulled: PulledField[] = [];
    for (const { name: report, path, fields } of reports)
      for (const { name } of fields) {
        const known = reportOf(report);
        if (known && fieldOf(known, name)) continue;
        const query = new URLSearchParams({
          requestedFields: [...new Set(['Day', name])].join(','),
          startInclusive: '2026-01-01T00:00:00Z',
          endExclusive: '2026-02-01T00:00:00Z',
          'api-version': '1.0',
        });
        const answer = await fetch(`${stack.apiUrl}${path}?${query}`, { headers });
        const csv = await answer.text();
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${csv}`);
        const lines = csv.trimEnd().split('\n').slice(1);
        pulled.push({ name, values: lines.map((line) => line.replace(/^"[^"]+",/, '')) });
      }
    return pulled;
  } finally {
    await stop();
  }
}

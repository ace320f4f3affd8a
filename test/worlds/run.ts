import { seedCryptoAndGzip } from './seeded-crypto.ts';
import { loadService } from './service-code.ts';
import { takeOverTime } from './virtual-time.ts';
import { parseArgs } from 'node:util';
const { values } = parseArgs({ options: { worlds: { type: 'string', default: '100' }, from: { type: 'string', default: '1' }, seed: { type: 'string' }, lib: { type: 'string', default: process.cwd() } } });
Error.stackTraceLimit = 0;
seedCryptoAndGzip();
takeOverTime(0, 0);
const { simulate } = await import('./simulate.ts');
const code = await loadService(values.lib);
const out = (s: string) => process.stdout.write(`${s}\n`);
if (values.seed) {
  const r = await simulate(code, Number(values.seed), { isTold: true });
  for (const line of r.history) out(line);
} else {
  const kinds = new Map<string, number[]>();
  const counts = new Map<string, number>();
  const t = process.hrtime.bigint();
  const n = Number(values.worlds);
  for (let seed = Number(values.from); seed < Number(values.from) + n; seed++) {
    const r = await simulate(code, seed).catch((e) => { out(`${seed} ${e.stack}`); return undefined; });
    if (!r) continue;
    for (const { kind } of r.violations) { const l = kinds.get(kind) ?? []; if (l.at(-1) !== seed) l.push(seed); kinds.set(kind, l); }
    for (const [k, v] of r.counts) counts.set(k, (counts.get(k) ?? 0) + v);
  }
  const ms = Number(process.hrtime.bigint() - t) / 1e6;
  for (const [k, v] of [...counts].sort()) out(`${String(v).padStart(8)} ${k}`);
  for (const [k, v] of kinds) out(`VIOLATION ${k}: ${v.length} worlds, first ${v.slice(0, 8)}`);
  out(`${(ms / n).toFixed(2)} ms a world`);
}

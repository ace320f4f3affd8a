import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pythonWith } from '../python.ts';
import { runProgram } from '../run-program.ts';
import type { Client, Language } from './client.ts';

/** A tool whose program is a line for a POSIX shell. The line runs if the machine has the tool. */
const tool = (command: string, client: Client): Language => ({
  name: command,
  clients: [client],
  runtime: [command, '--version'],
  prepare: async () => sh,
});

async function sh(source: string, cwd: string, env: Readonly<Record<string, string>>) {
  const file = join(cwd, 'pull.sh');
  await writeFile(file, `set -eu\n${source}`);
  return runProgram('sh', [file], { cwd, env });
}

const filtered = '"$URL&filter[DeviceOrProxy]=$TEXT"';
// curl prints the redirect's address and does not follow it. The later download needs no token.
const located = `"$(curl -sS -o /dev/null -w '%{redirect_url}' -H "Authorization: Bearer $TOKEN" -G "$URL" --data-urlencode "filter[DeviceOrProxy]=$TEXT")"`;

export const shellTools: readonly Language[] = [
  tool('curl', {
    name: 'curl',
    program: `curl -sSf -L -H "Authorization: Bearer $TOKEN" -o "$OUT" -G "$URL" --data-urlencode "filter[DeviceOrProxy]=$TEXT"`,
  }),
  tool('wget', {
    name: 'wget',
    why: 'sends the token on to storage',
    program: `wget -q --header "Authorization: Bearer $TOKEN" -O "$OUT" ${filtered}`,
    cures: [
      { from: `--header "Authorization: Bearer $TOKEN" -O "$OUT" ${filtered}`, to: `-O "$OUT" ${located}` },
    ],
  }),
  tool('aria2c', {
    name: 'aria2c',
    why: 'sends the token on to storage',
    program: `aria2c -q --allow-overwrite --header "Authorization: Bearer $TOKEN" -d "$(dirname "$OUT")" -o "$(basename "$OUT")" ${filtered}`,
    cures: [
      { from: '--header "Authorization: Bearer $TOKEN" ', to: '' },
      { from: filtered, to: located },
    ],
  }),
  {
    name: 'httpie',
    runtime: ['python3', '--version'],
    clients: [
      {
        name: 'HTTPie',
        program: `http --ignore-stdin --check-status --follow -b -o "$OUT" GET "$URL" "filter[DeviceOrProxy]==$TEXT" "Authorization:Bearer $TOKEN"`,
      },
    ],
    async prepare() {
      const python = await pythonWith('httpie', ['httpie==3.2.4']);
      if (!python) return undefined;
      const bin = join(python, '..');
      return (source, cwd, env) => sh(source, cwd, { ...env, PATH: `${bin}:${process.env['PATH']}` });
    },
  },
];

import { join } from 'node:path';
import { pythonWith } from '../python.ts';
import { clientsIn, type Language, runFile } from './client.ts';

const sh = runFile('sh', 'pull.sh', ['-eu']);

/** Tools whose program is a line for a POSIX shell. The line runs if the machine has the tool. */
const tools = clientsIn(`
## curl
curl -sSf -L -H "Authorization: Bearer $TOKEN" -o "$OUT" -G "$URL" --data-urlencode "filter[DeviceOrProxy]=$TEXT"
## wget
wget -q --header "Authorization: Bearer $TOKEN" -O "$OUT" "$URL&filter[DeviceOrProxy]=$TEXT"
## aria2c
aria2c -q --allow-overwrite --header "Authorization: Bearer $TOKEN" -d "$(dirname "$OUT")" -o "$(basename "$OUT")" "$URL&filter[DeviceOrProxy]=$TEXT"
`);

const httpie = clientsIn(`
## HTTPie
http --ignore-stdin --check-status --follow -b -o "$OUT" GET "$URL" "filter[DeviceOrProxy]==$TEXT" "Authorization:Bearer $TOKEN"
`);

export const shellTools: readonly Language[] = [
  ...tools.map((client): Language => {
    const { name } = client;
    return { name, clients: [client], runtime: [name, '--version'], prepare: async () => sh };
  }),
  {
    name: 'httpie',
    clients: httpie,
    runtime: ['python3', '--version'],
    async prepare() {
      const python = await pythonWith('httpie', ['httpie==3.2.4']);
      if (!python) return undefined;
      const PATH = `${join(python, '..')}:${process.env['PATH']}`;
      return (source, cwd, env) => sh(source, cwd, { ...env, PATH });
    },
  },
];

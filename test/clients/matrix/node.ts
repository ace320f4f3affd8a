import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { npmInstall } from '../run-program.ts';
import { clientsIn, type Language, runFile } from './client.ts';

const PACKAGES = [
  ...['axios@1.21.1', 'got@16.1.0', 'undici@8.12.4', 'node-fetch@3.3.2'],
  ...['ky@2.1.0', 'superagent@10.4.2', 'needle@3.5.0'],
];

const start = `import { writeFileSync } from 'node:fs';
const { URL: url, TEXT: text, OUT: out, TOKEN: token } = process.env;
const headers = { Authorization: 'Bearer ' + token };
const params = { 'filter[DeviceOrProxy]': text };
const full = url + '&' + new URLSearchParams(params);
`;

export const nodeClients: Language = {
  name: 'Node.js',
  clients: clientsIn(
    `
## Node.js fetch
const response = await fetch(full, { headers });
if (!response.ok) throw new Error(await response.text());
writeFileSync(out, Buffer.from(await response.arrayBuffer()));
## Node.js node-fetch
import fetch from 'node-fetch';
const response = await fetch(full, { headers });
if (!response.ok) throw new Error(await response.text());
writeFileSync(out, Buffer.from(await response.arrayBuffer()));
## Node.js axios
import axios from 'axios';
const { data } = await axios.get(url, { headers, params, responseType: 'arraybuffer' });
writeFileSync(out, data);
## Node.js got
import got from 'got';
writeFileSync(out, await got(full, { headers }).text());
## Node.js ky
import ky from 'ky';
writeFileSync(out, await ky(full, { headers }).text());
## Node.js undici request
import { request } from 'undici';
const response = await request(full, { headers });
if (response.statusCode !== 200) throw new Error(String(response.statusCode));
writeFileSync(out, await response.body.text());
## Node.js superagent
import superagent from 'superagent';
const response = await superagent.get(url).query(params).set(headers).buffer(true);
writeFileSync(out, response.text);
## Node.js needle
import needle from 'needle';
const response = await needle('get', full, { headers, parse: false });
if (response.statusCode !== 200) throw new Error(String(response.statusCode));
writeFileSync(out, response.body);
## Node.js http.get
import { get } from 'node:http';
import { text as read } from 'node:stream/consumers';
const response = await new Promise((resolve) => get(full, { headers }, resolve));
if (response.statusCode !== 200) throw new Error(await read(response));
writeFileSync(out, await read(response));
`,
    (program) => start + program,
  ),
  runtime: [process.execPath, '--version'],
  async prepare() {
    const home = await toolCache('node-clients', PACKAGES, (directory) => npmInstall(directory, PACKAGES));
    return async (source, cwd, env) => {
      await symlink(join(home, 'node_modules'), join(cwd, 'node_modules')).catch(() => {});
      return runFile(process.execPath, 'pull.mjs')(source, cwd, env);
    };
  },
};

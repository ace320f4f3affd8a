import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { npmInstall, runProgram } from '../run-program.ts';
import type { Language } from './client.ts';

const PACKAGES = [
  'axios@1.21.1',
  'got@16.1.0',
  'undici@8.12.4',
  'node-fetch@3.3.2',
  'ky@2.1.0',
  'superagent@10.4.2',
  'needle@3.5.0',
];

const start = `import { writeFileSync } from 'node:fs';
const { URL: url, TEXT: text, OUT: out, TOKEN: token } = process.env;
const headers = { Authorization: 'Bearer ' + token };
const params = { 'filter[DeviceOrProxy]': text };
const full = url + '&' + new URLSearchParams(params);
`;
const checked = `if (!response.ok) throw new Error(await response.text());
writeFileSync(out, Buffer.from(await response.arrayBuffer()));`;

export const nodeClients: Language = {
  name: 'Node.js',
  clients: [
    {
      name: 'Node.js fetch',
      program: `${start}const response = await fetch(full, { headers });\n${checked}`,
    },
    {
      name: 'Node.js node-fetch',
      program: `${start}import fetch from 'node-fetch';\nconst response = await fetch(full, { headers });\n${checked}`,
    },
    {
      name: 'Node.js axios',
      program: `${start}import axios from 'axios';
const { data } = await axios.get(url, { headers, params, responseType: 'arraybuffer' });
writeFileSync(out, data);`,
    },
    {
      name: 'Node.js got',
      why: 'follows 10 redirects',
      program: `${start}import got from 'got';\nwriteFileSync(out, await got(full, { headers }).text());`,
      cures: [{ from: '{ headers })', to: '{ headers, maxRedirects: 50 })' }],
    },
    {
      name: 'Node.js ky',
      why: 'waits 10 s in all',
      program: `${start}import ky from 'ky';\nwriteFileSync(out, await ky(full, { headers }).text());`,
      cures: [{ from: '{ headers }', to: '{ headers, timeout: false }' }],
    },
    {
      name: 'Node.js undici request',
      why: 'follows no redirect',
      program: `${start}import { request } from 'undici';
const response = await request(full, { headers });
if (response.statusCode !== 200) throw new Error(String(response.statusCode));
writeFileSync(out, await response.body.text());`,
      cures: [
        { from: '{ request }', to: '{ Agent, interceptors, request }' },
        {
          from: '{ headers });',
          to: '{ headers, dispatcher: new Agent().compose(interceptors.redirect({ maxRedirections: 50 })) });',
        },
      ],
    },
    {
      name: 'Node.js superagent',
      why: 'follows 5 redirects',
      program: `${start}import superagent from 'superagent';
const response = await superagent.get(url).query(params).set(headers).buffer(true);
writeFileSync(out, response.text);`,
      cures: [{ from: '.set(headers)', to: '.set(headers).redirects(50)' }],
    },
    {
      name: 'Node.js needle',
      why: 'follows no redirect',
      program: `${start}import needle from 'needle';
const response = await needle('get', full, { headers, parse: false });
if (response.statusCode !== 200) throw new Error(String(response.statusCode));
writeFileSync(out, response.body);`,
      cures: [{ from: 'parse: false', to: 'parse: false, follow_max: 30, response_timeout: 60_000' }],
    },
    {
      name: 'Node.js http.get',
      why: 'follows no redirect',
      program: `${start}import { get } from 'node:http';
import { text as read } from 'node:stream/consumers';
const response = await new Promise((resolve) => get(full, { headers }, resolve));
if (response.statusCode !== 200) throw new Error(await read(response));
writeFileSync(out, await read(response));`,
      cures: [
        {
          from: 'const response = await new Promise((resolve) => get(full, { headers }, resolve));',
          to: `let response = await new Promise((resolve) => get(full, { headers }, resolve));
for (let at = full; response.statusCode === 303; ) {
  at = new URL(response.headers.location, at);
  response = await new Promise((resolve) => get(at, resolve));
}`,
        },
      ],
    },
  ],
  runtime: [process.execPath, '--version'],
  async prepare() {
    const home = await toolCache('node-clients', PACKAGES, (directory) => npmInstall(directory, PACKAGES));
    return async (source, cwd, env) => {
      await symlink(join(home, 'node_modules'), join(cwd, 'node_modules')).catch(() => {});
      const file = join(cwd, 'pull.mjs');
      await writeFile(file, source);
      return runProgram(process.execPath, [file], { cwd, env });
    };
  },
};

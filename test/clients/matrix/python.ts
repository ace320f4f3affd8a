import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { duckDbPython, INSTALL_HTTPFS, pythonWith } from '../python.ts';
import { runProgram } from '../run-program.ts';
import type { Language } from './client.ts';

const PACKAGES = [
  'requests==2.34.2',
  'urllib3==2.8.0',
  'httpx==0.28.1',
  'aiohttp==3.14.5',
  'pandas==3.1.1',
  'polars==2.1.0',
  'fsspec==2026.9.0',
];

const start = `import os
url, text, out = os.environ["URL"], os.environ["TEXT"], os.environ["OUT"]
headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
`;
const filter = 'params={"filter[DeviceOrProxy]": text}';

export const pythonClients: Language = {
  name: 'Python',
  clients: [
    {
      name: 'Python requests',
      program: `${start}import requests
response = requests.get(url, headers=headers, ${filter})
response.raise_for_status()
open(out, "wb").write(response.content)`,
    },
    {
      name: 'Python requests, stream and raw',
      why: 'asks for gzip, and the raw stream is gzip then',
      program: `${start}import requests, shutil
response = requests.get(url, headers=headers, ${filter}, stream=True)
response.raise_for_status()
shutil.copyfileobj(response.raw, open(out, "wb"))`,
      cures: [
        {
          from: 'response.raise_for_status()',
          to: 'response.raise_for_status()\nresponse.raw.decode_content = True',
        },
      ],
    },
    {
      name: 'Python urllib',
      why: 'sends the token on to storage, and follows 10 redirects',
      program: `${start}from urllib.request import Request, urlopen
from urllib.parse import quote
request = Request(url + "&filter[DeviceOrProxy]=" + quote(text), headers=headers)
open(out, "wb").write(urlopen(request).read())`,
      cures: [
        {
          from: ', headers=headers)',
          to: ')\nrequest.add_unredirected_header("Authorization", headers["Authorization"])\nHTTPRedirectHandler.max_redirections = 50',
        },
        { from: 'import Request, urlopen', to: 'import HTTPRedirectHandler, Request, urlopen' },
      ],
    },
    {
      name: 'Python urllib3',
      why: 'waits 3 s for an answer, and follows 3 redirects',
      program: `${start}import urllib3
from urllib.parse import quote
response = urllib3.request("GET", url + "&filter[DeviceOrProxy]=" + quote(text), headers=headers)
assert response.status == 200, response.data
open(out, "wb").write(response.data)`,
      cures: [{ from: 'headers=headers)', to: 'headers=headers, timeout=60, retries=50)' }],
    },
    {
      name: 'Python httpx',
      why: 'follows no redirect, and waits 5 s for an answer',
      program: `${start}import httpx
response = httpx.get(httpx.URL(url, params={**dict(httpx.URL(url).params), "filter[DeviceOrProxy]": text}), headers=headers)
response.raise_for_status()
open(out, "wb").write(response.content)`,
      cures: [{ from: 'headers=headers)', to: 'headers=headers, follow_redirects=True, timeout=60)' }],
    },
    {
      name: 'Python aiohttp',
      why: 'follows 9 redirects, and waits 300 s in all',
      program: `${start}import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get(url, headers=headers, ${filter}) as response:
            response.raise_for_status()
            open(out, "wb").write(await response.read())
asyncio.run(main())`,
      cures: [
        { from: 'ClientSession()', to: 'ClientSession(timeout=aiohttp.ClientTimeout(total=2400))' },
        { from: `${filter})`, to: `${filter}, max_redirects=50)` },
      ],
    },
    {
      name: 'pandas.read_csv(url)',
      why: 'sends the token on to storage',
      rewrites: true,
      program: `${start}import pandas
from urllib.parse import quote
url = url + "&filter[DeviceOrProxy]=" + quote(text)
table = pandas.read_csv(url, storage_options=headers, dtype=str, keep_default_na=False)
table.to_csv(out, index=False)`,
      cures: [
        { from: 'from urllib.parse import quote', to: 'import io, requests' },
        {
          from: 'url = url + "&filter[DeviceOrProxy]=" + quote(text)',
          to: `response = requests.get(url, headers=headers, ${filter})`,
        },
        { from: 'url, storage_options=headers', to: 'io.BytesIO(response.content)' },
      ],
    },
    {
      name: 'polars.read_csv(url)',
      why: 'has no way to send the token',
      rewrites: true,
      program: `${start}import polars
from urllib.parse import quote
url = url + "&filter[DeviceOrProxy]=" + quote(text)
table = polars.read_csv(url, storage_options=headers, infer_schema=False)
table.write_csv(out)`,
      cures: [
        { from: 'from urllib.parse import quote', to: 'import requests' },
        {
          from: 'url = url + "&filter[DeviceOrProxy]=" + quote(text)',
          to: `response = requests.get(url, headers=headers, ${filter})`,
        },
        { from: 'url, storage_options=headers', to: 'response.content' },
      ],
    },
  ],
  runtime: ['python3', '--version'],
  async prepare() {
    const python = await pythonWith('python-clients', PACKAGES);
    if (!python) return undefined;
    return async (source, cwd, env) => {
      const file = join(cwd, 'pull.py');
      await writeFile(file, source);
      return runProgram(python, [file], { cwd, env });
    };
  },
};

export const duckDbClients: Language = {
  name: 'DuckDB',
  clients: [
    {
      name: 'DuckDB read_csv(url)',
      rewrites: true,
      program: `import os, duckdb, urllib.parse
con = duckdb.connect()
con.execute("INSTALL httpfs; LOAD httpfs")
con.execute(f"CREATE SECRET (TYPE http, BEARER_TOKEN '{os.environ['TOKEN']}', SCOPE '{os.environ['API_URL']}')")
url = os.environ["URL"] + "&filter%5BDeviceOrProxy%5D=" + urllib.parse.quote(os.environ["TEXT"])
con.execute(f"COPY (FROM read_csv('{url}', all_varchar = true)) TO '{os.environ['OUT']}'")`,
    },
  ],
  runtime: ['python3', '--version'],
  async prepare() {
    const python = await duckDbPython();
    if (!python) return undefined;
    return async (source, cwd, env) => {
      const file = join(cwd, 'pull.py');
      await writeFile(file, source);
      await runProgram(python, ['-c', INSTALL_HTTPFS], { env: { HOME: cwd } });
      return runProgram(python, [file], { cwd, env: { ...env, HOME: cwd } });
    };
  },
};

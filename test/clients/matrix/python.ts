import { duckDbPython, INSTALL_HTTPFS, pythonWith } from '../python.ts';
import { runProgram } from '../run-program.ts';
import { clientsIn, type Language, runFile } from './client.ts';

const PACKAGES = [
  ...['requests==2.34.2', 'urllib3==2.8.0', 'httpx==0.28.1', 'aiohttp==3.14.5'],
  ...['pandas==3.1.1', 'polars==2.1.0', 'fsspec==2026.9.0'],
];

const start = `import os
url, text, out = os.environ["URL"], os.environ["TEXT"], os.environ["OUT"]
headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
`;

export const pythonClients: Language = {
  name: 'Python',
  clients: clientsIn(
    `
## Python requests
import requests
response = requests.get(url, headers=headers, params={"filter[DeviceOrProxy]": text})
response.raise_for_status()
open(out, "wb").write(response.content)
## Python requests, stream and raw
import requests, shutil
response = requests.get(url, headers=headers, params={"filter[DeviceOrProxy]": text}, stream=True)
response.raise_for_status()
shutil.copyfileobj(response.raw, open(out, "wb"))
## Python urllib
from urllib.request import Request, urlopen
from urllib.parse import quote
request = Request(url + "&filter[DeviceOrProxy]=" + quote(text), headers=headers)
open(out, "wb").write(urlopen(request).read())
## Python urllib3
import urllib3
from urllib.parse import quote
response = urllib3.request("GET", url + "&filter[DeviceOrProxy]=" + quote(text), headers=headers)
assert response.status == 200, response.data
open(out, "wb").write(response.data)
## Python httpx
import httpx
response = httpx.get(httpx.URL(url, params={**dict(httpx.URL(url).params), "filter[DeviceOrProxy]": text}), headers=headers)
response.raise_for_status()
open(out, "wb").write(response.content)
## Python aiohttp
import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get(url, headers=headers, params={"filter[DeviceOrProxy]": text}) as response:
            response.raise_for_status()
            open(out, "wb").write(await response.read())
asyncio.run(main())
## pandas.read_csv(url)
import pandas
from urllib.parse import quote
url = url + "&filter[DeviceOrProxy]=" + quote(text)
table = pandas.read_csv(url, storage_options=headers, dtype=str, keep_default_na=False)
table.to_csv(out, index=False)
## polars.read_csv(url)
import polars
from urllib.parse import quote
url = url + "&filter[DeviceOrProxy]=" + quote(text)
table = polars.read_csv(url, storage_options=headers, infer_schema=False)
table.write_csv(out)
`,
    (program) => start + program,
  ),
  runtime: ['python3', '--version'],
  async prepare() {
    const python = await pythonWith('python-clients', PACKAGES);
    return python ? runFile(python, 'pull.py') : undefined;
  },
};

export const duckDbClients: Language = {
  name: 'DuckDB',
  clients: clientsIn(`
## DuckDB read_csv(url)
import os, duckdb, urllib.parse
con = duckdb.connect()
con.execute("INSTALL httpfs; LOAD httpfs")
con.execute(f"CREATE SECRET (TYPE http, BEARER_TOKEN '{os.environ['TOKEN']}', SCOPE '{os.environ['API_URL']}')")
url = os.environ["URL"] + "&filter%5BDeviceOrProxy%5D=" + urllib.parse.quote(os.environ["TEXT"])
con.execute(f"COPY (FROM read_csv('{url}', all_varchar = true)) TO '{os.environ['OUT']}'")
`),
  runtime: ['python3', '--version'],
  async prepare() {
    const python = await duckDbPython();
    if (!python) return undefined;
    return async (source, cwd, env) => {
      await runProgram(python, ['-c', INSTALL_HTTPFS], { env: { HOME: cwd } });
      return runFile(python, 'pull.py')(source, cwd, { ...env, HOME: cwd });
    };
  },
};

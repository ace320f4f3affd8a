import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { runInstaller, runProgram } from '../run-program.ts';
import { type Client, cured, type Language } from './client.ts';

const RESTY = 'resty.dev/v3@v3.0.0-beta.4';

const start = `package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	full := os.Getenv("URL") + "&filter%5BDeviceOrProxy%5D=" + url.QueryEscape(os.Getenv("TEXT"))
`;

const clients: readonly Client[] = [
  {
    name: 'Go net/http',
    why: 'follows 9 redirects',
    program: `${start}	request, err := http.NewRequest("GET", full, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	response, err := http.DefaultClient.Do(request)
	check(err)
	body, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != 200 {
		panic(string(body))
	}
	check(os.WriteFile(os.Getenv("OUT"), body, 0o644))
}
`,
    cures: [
      {
        from: '	response, err := http.DefaultClient.Do(request)',
        to: `	client := http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > 50 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	response, err := client.Do(request)`,
      },
    ],
  },
  {
    name: 'Go resty',
    why: 'follows 9 redirects',
    program: `package main

import (
	"os"

	"resty.dev/v3"
)

func main() {
	client := resty.New()
	response, err := client.R().SetAuthToken(os.Getenv("TOKEN")).
		SetQueryParam("filter[DeviceOrProxy]", os.Getenv("TEXT")).Get(os.Getenv("URL"))
	if err != nil {
		panic(err)
	}
	if response.StatusCode() != 200 {
		panic(response.String())
	}
	if err := os.WriteFile(os.Getenv("OUT"), response.Bytes(), 0o644); err != nil {
		panic(err)
	}
}
`,
    cures: [{ from: 'resty.New()', to: 'resty.New().SetRedirectPolicy(resty.FlexibleRedirectPolicy(50))' }],
  },
];

export const goClients: Language = {
  name: 'Go',
  clients,
  runtime: ['go', 'version'],
  async prepare() {
    const sources = clients.flatMap((client) => [client.program, cured(client)]);
    const nameOf = (source: string) => `pull${sources.indexOf(source)}`;
    const home = await toolCache('go-clients', [RESTY, ...sources], async (directory) => {
      await writeFile(join(directory, 'go.mod'), 'module example.com/clients\n\ngo 1.23\n');
      await runInstaller('go', ['-C', directory, 'get', RESTY]);
      for (const source of sources) {
        const folder = join(directory, nameOf(source));
        await mkdir(folder);
        await writeFile(join(folder, 'main.go'), source);
      }
      const binaries = join(directory, 'bin');
      await mkdir(binaries);
      await runInstaller('go', ['-C', directory, 'build', '-o', binaries, './...'], { GOFLAGS: '-mod=mod' });
    });
    return (source, cwd, env) => runProgram(join(home, 'bin', nameOf(source)), [], { cwd, env });
  },
};

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInstaller, runProgram } from '../run-program.ts';
import { toolCache } from '../tool-cache.ts';
import type { Language } from './client.ts';

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

export const goClients: Language = {
  name: 'Go',
  clients: [
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
		if len(via) > 30 {
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
      cures: [{ from: 'resty.New()', to: 'resty.New().SetRedirectPolicy(resty.FlexibleRedirectPolicy(30))' }],
    },
  ],
  runtime: ['go', 'version'],
  async prepare() {
    const home = await toolCache('go-clients', [RESTY], async (directory) => {
      await writeFile(join(directory, 'go.mod'), 'module example.com/clients\n\ngo 1.23\n');
      await runInstaller('go', ['-C', directory, 'get', RESTY]);
    });
    if (!home) return undefined;
    return async (source, cwd, env) => {
      // A package in the module that has the dependencies.
      const name = Buffer.from(source).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
      const folder = join(home, `pull-${name}`);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'main.go'), source);
      const binary = join(cwd, 'pull');
      await runInstaller('go', ['-C', folder, 'build', '-o', binary, '.'], { GOFLAGS: '-mod=mod' });
      return runProgram(binary, [], { cwd, env });
    };
  },
};

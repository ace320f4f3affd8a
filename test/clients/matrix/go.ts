import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInstaller } from '../run-program.ts';
import { clientsIn, compiled, type Language } from './client.ts';

const RESTY = 'resty.dev/v3@v3.0.0-beta.4';

export const goClients: Language = compiled('Go', {
  clients: clientsIn(
    `
## Go net/http
package main

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
	request, err := http.NewRequest("GET", full, nil)
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
## Go resty
package main

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
    (program) => `${program}\n`,
  ),
  runtime: ['go', 'version'],
  pin: RESTY,
  program: (home, name) => join(home, 'bin', name),
  async build(directory, sources) {
    await writeFile(join(directory, 'go.mod'), 'module example.com/clients\n\ngo 1.23\n');
    await runInstaller('go', ['-C', directory, 'get', RESTY]);
    for (const [name, source] of sources) {
      await mkdir(join(directory, name));
      await writeFile(join(directory, name, 'main.go'), source);
    }
    const binaries = join(directory, 'bin');
    await mkdir(binaries);
    await runInstaller('go', ['-C', directory, 'build', '-o', binaries, './...'], { GOFLAGS: '-mod=mod' });
  },
});

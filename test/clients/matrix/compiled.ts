import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { runInstaller, runProgram } from '../run-program.ts';
import { clientsIn, cured, type Language } from './client.ts';

interface Compiler extends Pick<Language, 'clients' | 'runtime'> {
  /** The text that pins the libraries. */
  readonly pin: string;
  /** Compiles the programs in a new directory, by their names. */
  build(directory: string, sources: readonly (readonly [name: string, source: string])[]): Promise<unknown>;
  /** The path of the compiled program in that directory. */
  program(directory: string, name: string): string;
}

/** A language whose programs, with and without cure, are compiled once into the cache. */
const compiled = (name: string, { build, program, pin, ...language }: Compiler): Language => ({
  ...{ name, ...language },
  async prepare() {
    const sources = language.clients.flatMap((client) => [client.program, cured(client)]);
    const nameOf = (source: string) => `pull${sources.indexOf(source)}`;
    const home = await toolCache(`${name.toLowerCase()}-clients`, [pin, ...sources], (directory) =>
      build(
        directory,
        sources.map((source) => [nameOf(source), source]),
      ),
    );
    return (source, cwd, env) => runProgram(program(home, nameOf(source)), [], { cwd, env });
  },
});

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

// The client is built without TLS: `npm start` does not use TLS, and TLS takes minutes to compile.
const MANIFEST = `[package]
name = "pull"
version = "1.0.0"
edition = "2021"

[dependencies]
reqwest = { version = "=0.12.24", default-features = false, features = ["blocking", "gzip"] }
tokio = { version = "=1.48.0", features = ["macros", "rt"] }
ureq = { version = "=3.1.4", default-features = false, features = ["gzip"] }
`;

const rustStart = `use std::{env, fs};
fn variable(name: &str) -> String { env::var(name).unwrap() }
`;

export const rustClients: Language = compiled('Rust', {
  clients: clientsIn(
    `
## Rust reqwest blocking
fn main() {
    let client = reqwest::blocking::Client::new();
    let response = client.get(variable("URL")).query(&[("filter[DeviceOrProxy]", variable("TEXT"))]).bearer_auth(variable("TOKEN")).send().unwrap();
    fs::write(variable("OUT"), response.error_for_status().unwrap().bytes().unwrap()).unwrap();
}
## Rust reqwest
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = reqwest::Client::new();
    let response = client.get(variable("URL")).query(&[("filter[DeviceOrProxy]", variable("TEXT"))]).bearer_auth(variable("TOKEN")).send().await.unwrap();
    fs::write(variable("OUT"), response.error_for_status().unwrap().bytes().await.unwrap()).unwrap();
}
## Rust ureq
fn main() {
    let mut response = ureq::get(variable("URL")).query("filter[DeviceOrProxy]", variable("TEXT")).header("Authorization", format!("Bearer {}", variable("TOKEN"))).call().unwrap();
    fs::write(variable("OUT"), response.body_mut().read_to_vec().unwrap()).unwrap();
}
`,
    (program) => `${rustStart}${program}\n`,
  ),
  runtime: ['cargo', '--version'],
  pin: MANIFEST,
  program: (home, name) => join(home, 'target', 'debug', name),
  async build(directory, sources) {
    const manifest = join(directory, 'Cargo.toml');
    await writeFile(manifest, MANIFEST);
    const folder = join(directory, 'src', 'bin');
    await mkdir(folder, { recursive: true });
    for (const [name, source] of sources) await writeFile(join(folder, `${name}.rs`), source);
    await runInstaller('cargo', ['build', '--quiet', '--manifest-path', manifest]);
  },
});

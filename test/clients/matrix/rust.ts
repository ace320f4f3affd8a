import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCache } from '../../tool-cache.ts';
import { runInstaller, runProgram } from '../run-program.ts';
import { type Client, cured, type Language } from './client.ts';

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

const start = `use std::{env, fs};
fn variable(name: &str) -> String { env::var(name).unwrap() }
`;

const clients: readonly Client[] = [
  {
    name: 'Rust reqwest blocking',
    why: 'waits 30 s in all, and follows 10 redirects',
    program: `${start}fn main() {
    let client = reqwest::blocking::Client::new();
    let response = client.get(variable("URL")).query(&[("filter[DeviceOrProxy]", variable("TEXT"))]).bearer_auth(variable("TOKEN")).send().unwrap();
    fs::write(variable("OUT"), response.error_for_status().unwrap().bytes().unwrap()).unwrap();
}
`,
    cures: [
      {
        from: 'reqwest::blocking::Client::new();',
        to: 'reqwest::blocking::Client::builder().timeout(None).redirect(reqwest::redirect::Policy::limited(50)).build().unwrap();',
      },
    ],
  },
  {
    name: 'Rust reqwest',
    why: 'follows 10 redirects',
    program: `${start}#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = reqwest::Client::new();
    let response = client.get(variable("URL")).query(&[("filter[DeviceOrProxy]", variable("TEXT"))]).bearer_auth(variable("TOKEN")).send().await.unwrap();
    fs::write(variable("OUT"), response.error_for_status().unwrap().bytes().await.unwrap()).unwrap();
}
`,
    cures: [
      {
        from: 'reqwest::Client::new();',
        to: 'reqwest::Client::builder().redirect(reqwest::redirect::Policy::limited(50)).build().unwrap();',
      },
    ],
  },
  {
    name: 'Rust ureq',
    why: 'follows 10 redirects',
    program: `${start}fn main() {
    let mut response = ureq::get(variable("URL")).query("filter[DeviceOrProxy]", variable("TEXT")).header("Authorization", format!("Bearer {}", variable("TOKEN"))).call().unwrap();
    fs::write(variable("OUT"), response.body_mut().read_to_vec().unwrap()).unwrap();
}
`,
    cures: [{ from: '.call()', to: '.config().max_redirects(50).build().call()' }],
  },
];

export const rustClients: Language = {
  name: 'Rust',
  clients,
  runtime: ['cargo', '--version'],
  async prepare() {
    const sources = clients.flatMap((client) => [client.program, cured(client)]);
    const nameOf = (source: string) => `pull${sources.indexOf(source)}`;
    const home = await toolCache('rust-clients', [MANIFEST, ...sources], async (directory) => {
      await writeFile(join(directory, 'Cargo.toml'), MANIFEST);
      const folder = join(directory, 'src', 'bin');
      await mkdir(folder, { recursive: true });
      for (const source of sources) await writeFile(join(folder, `${nameOf(source)}.rs`), source);
      const manifest = join(directory, 'Cargo.toml');
      await runInstaller('cargo', ['build', '--quiet', '--manifest-path', manifest]);
    });
    return (source, cwd, env) => runProgram(join(home, 'target', 'debug', nameOf(source)), [], { cwd, env });
  },
};

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInstaller } from '../run-program.ts';
import { clientsIn, compiled, type Language } from './client.ts';

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
    (program) => `${start}${program}\n`,
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

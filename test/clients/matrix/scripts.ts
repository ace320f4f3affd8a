import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHere, runProgram } from '../run-program.ts';
import type { Client, Language } from './client.ts';

interface Interpreter {
  readonly command: string;
  readonly file: string;
  /** The interpreter's option that takes a program as its value. */
  readonly option: string;
  /** The clients. `needs` is a program that fails if the client's library, a system package, is missing. */
  readonly clients: readonly (Client & { readonly needs?: string })[];
}

/** Makes a language of each client. If the library of a client is missing, only this client is left out. */
const scripts = (name: string, { command, file, option, clients }: Interpreter): readonly Language[] =>
  clients.map(({ needs, ...client }) => ({
    name,
    clients: [client],
    runtime: [command, '--version'],
    async prepare() {
      if (needs && !(await isHere(command, option, needs))) return undefined;
      return async (source, cwd, env) => {
        await writeFile(join(cwd, file), source);
        return runProgram(command, [join(cwd, file)], { cwd, env });
      };
    },
  }));

const perl = `use strict; use URI::Escape;
my $full = $ENV{URL} . '&filter%5BDeviceOrProxy%5D=' . uri_escape($ENV{TEXT});
my %headers = (Authorization => "Bearer $ENV{TOKEN}");
`;
const perlSave = `open(my $file, '>:raw', $ENV{OUT}); print $file `;

export const perlClients = scripts('Perl', {
  command: 'perl',
  file: 'pull.pl',
  option: '-e',
  clients: [
    {
      name: 'Perl LWP::UserAgent',
      needs: 'use LWP::UserAgent; use URI::Escape',
      why: 'sends the token on to storage, and follows 7 redirects',
      program: `${perl}use LWP::UserAgent;
my $client = LWP::UserAgent->new;
my $response = $client->get($full, %headers);
die $response->status_line unless $response->code == 200;
${perlSave}$response->content;`,
      cures: [
        {
          from: 'my $client = LWP::UserAgent->new;',
          to: `my $client = LWP::UserAgent->new(max_redirect => 50);
$client->add_handler(request_prepare => sub { $_[0]->remove_header('Authorization') if $_[0]->uri =~ /X-Amz-/ });`,
        },
      ],
    },
    {
      name: 'Perl HTTP::Tiny',
      needs: 'use URI::Escape',
      why: 'follows 5 redirects',
      program: `${perl}use HTTP::Tiny;
my $client = HTTP::Tiny->new();
my $response = $client->get($full, { headers => \\%headers });
die $response->{content} unless $response->{status} == 200;
${perlSave}$response->{content};`,
      cures: [{ from: 'HTTP::Tiny->new()', to: 'HTTP::Tiny->new(max_redirect => 50)' }],
    },
    {
      name: 'Perl Mojo::UserAgent',
      needs: 'use Mojo::UserAgent; use URI::Escape',
      why: 'follows no redirect',
      program: `${perl}use Mojo::UserAgent;
my $client = Mojo::UserAgent->new;
my $response = $client->get($full => \\%headers)->result;
die $response->body unless $response->code == 200;
${perlSave}$response->body;`,
      cures: [
        {
          from: 'Mojo::UserAgent->new',
          to: 'Mojo::UserAgent->new(max_redirects => 50, inactivity_timeout => 60)',
        },
      ],
    },
  ],
});

const php = `<?php
$full = getenv('URL') . '&' . http_build_query(['filter[DeviceOrProxy]' => getenv('TEXT')]);
$token = 'Bearer ' . getenv('TOKEN');
$out = getenv('OUT');
`;

export const phpClients = scripts('PHP', {
  command: 'php',
  file: 'pull.php',
  option: '-r',
  clients: [
    {
      name: 'PHP curl',
      needs: 'curl_version();',
      why: 'follows no redirect',
      program: `${php}$curl = curl_init($full);
curl_setopt_array($curl, [CURLOPT_HTTPHEADER => ["Authorization: $token"], CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true]);
$body = curl_exec($curl);
if ($body === false) { fwrite(STDERR, curl_error($curl)); exit(1); }
file_put_contents($out, $body);`,
      cures: [
        {
          from: 'CURLOPT_FAILONERROR => true',
          to: 'CURLOPT_FAILONERROR => true, CURLOPT_FOLLOWLOCATION => true',
        },
      ],
    },
    {
      name: 'PHP file_get_contents',
      program: `${php}$context = stream_context_create(['http' => ['header' => "Authorization: $token"]]);
$body = file_get_contents($full, false, $context);
if ($body === false) exit(1);
file_put_contents($out, $body);`,
    },
    {
      name: 'PHP Guzzle',
      needs: "require 'GuzzleHttp/autoload.php';",
      why: 'follows 5 redirects',
      program: `${php}require 'GuzzleHttp/autoload.php';
$client = new GuzzleHttp\\Client();
$response = $client->get($full, ['headers' => ['Authorization' => $token]]);
file_put_contents($out, $response->getBody());`,
      cures: [{ from: "['headers' =>", to: "['allow_redirects' => ['max' => 50], 'headers' =>" }],
    },
    {
      name: 'PHP Symfony HttpClient',
      needs: "require 'Symfony/Component/HttpClient/autoload.php';",
      why: 'waits 60 s in all, redirects among them',
      program: `${php}require 'Symfony/Component/HttpClient/autoload.php';
$client = Symfony\\Component\\HttpClient\\HttpClient::create();
$response = $client->request('GET', $full, ['headers' => ['Authorization' => $token]]);
file_put_contents($out, $response->getContent());`,
      cures: [{ from: "['headers' =>", to: "['timeout' => 2400, 'headers' =>" }],
    },
  ],
});

const ruby = `require 'uri'
full = ENV['URL'] + '&' + URI.encode_www_form('filter[DeviceOrProxy]' => ENV['TEXT'])
headers = { 'Authorization' => "Bearer #{ENV['TOKEN']}" }
save = ->(body) { File.binwrite(ENV['OUT'], body) }
`;

export const rubyClients = scripts('Ruby', {
  command: 'ruby',
  file: 'pull.rb',
  option: '-e',
  clients: [
    {
      name: 'Ruby open-uri',
      why: 'sends the token on to storage',
      program: `${ruby}require 'open-uri'
save.(URI.open(full, headers).read)`,
      cures: [
        {
          from: 'save.(URI.open(full, headers).read)',
          to: `begin
  URI.open(full, headers.merge(redirect: false))
rescue OpenURI::HTTPRedirect => answer
  save.(URI.open(answer.uri).read)
end`,
        },
      ],
    },
    {
      name: 'Ruby Net::HTTP',
      why: 'follows no redirect',
      program: `${ruby}require 'net/http'
response = Net::HTTP.get_response(URI(full), headers)
raise response.body unless response.code == '200'
save.(response.body)`,
      cures: [
        {
          from: 'raise response.body unless',
          to: `at = URI(full)
response = Net::HTTP.get_response(at = URI.join(at, response['location'])) while response.code == '303'
raise response.body unless`,
        },
      ],
    },
    {
      name: 'Ruby Faraday',
      needs: "require 'faraday_middleware'",
      why: 'follows 3 redirects',
      program: `${ruby}require 'faraday'
require 'faraday_middleware'
client = Faraday.new { |faraday| faraday.response :follow_redirects; faraday.response :raise_error }
save.(client.get(full, nil, headers).body)`,
      cures: [{ from: ':follow_redirects;', to: ':follow_redirects, limit: 50;' }],
    },
    {
      name: 'Ruby HTTParty',
      needs: "require 'httparty'",
      why: 'sends the token on to storage',
      program: `${ruby}require 'httparty'
response = HTTParty.get(full, headers: headers, format: :plain)
raise response.body unless response.code == 200
save.(response.body)`,
      cures: [
        { from: 'headers: headers,', to: 'headers: headers, follow_redirects: false,' },
        {
          from: 'raise response.body',
          to: `at = URI(full)
response = HTTParty.get(at = URI.join(at, response.headers['location']), format: :plain, follow_redirects: false) while response.code == 303
raise response.body`,
        },
      ],
    },
    {
      name: 'Ruby RestClient',
      needs: "require 'rest-client'",
      why: 'sends the token on to storage, and follows 10 redirects',
      program: `${ruby}require 'rest-client'
save.(RestClient.get(full, headers).body)`,
      cures: [
        {
          from: 'save.(RestClient.get(full, headers).body)',
          to: `at = RestClient::Request.execute(method: :get, url: full, headers: headers) { |answer| URI.join(full, answer.headers[:location]).to_s }
save.(RestClient::Request.execute(method: :get, url: at, max_redirects: 50).body)`,
        },
      ],
    },
    {
      name: 'Ruby httpclient',
      needs: "require 'httpclient'",
      why: 'sends the token on to storage',
      program: `${ruby}require 'httpclient'
save.(HTTPClient.new.get_content(full, nil, headers))`,
      cures: [
        {
          from: 'save.(HTTPClient.new.get_content(full, nil, headers))',
          to: `at = URI(full)
answer = HTTPClient.new.get(at, nil, headers)
answer = HTTPClient.new.get(at = URI.join(at, answer.headers['Location'])) while answer.status == 303
raise answer.body unless answer.status == 200
save.(answer.body)`,
        },
      ],
    },
    {
      name: 'Ruby http.rb',
      needs: "require 'http'",
      why: 'sends the token on to storage',
      program: `${ruby}require 'http'
response = HTTP.headers(headers).follow.get(full)
raise response.to_s unless response.code == 200
save.(response.body.to_s)`,
      cures: [
        { from: '.follow.get(full)', to: '.get(full)' },
        {
          from: 'raise response.to_s',
          to: `at = URI(full)
response = HTTP.get(at = URI.join(at, response['Location'])) while response.code == 303
raise response.to_s`,
        },
      ],
    },
    {
      name: 'Ruby excon',
      needs: "require 'excon'",
      why: 'follows no redirect',
      program: `${ruby}require 'excon'
response = Excon.get(full, headers: headers, expects: [200])
save.(response.body)`,
      cures: [
        {
          from: 'expects: [200])',
          to: `expects: [200, 303])
at = URI(full)
response = Excon.get((at = URI.join(at, response.headers['Location'])).to_s, expects: [200, 303]) while response.status == 303`,
        },
      ],
    },
    {
      name: 'Ruby Typhoeus',
      needs: "require 'typhoeus'",
      why: 'follows no redirect',
      program: `${ruby}require 'typhoeus'
response = Typhoeus.get(full, headers: headers)
raise response.body unless response.code == 200
save.(response.body)`,
      cures: [{ from: 'headers: headers)', to: 'headers: headers, followlocation: true)' }],
    },
  ],
});

const r = `full <- paste0(Sys.getenv("URL"), "&filter%5BDeviceOrProxy%5D=", URLencode(Sys.getenv("TEXT"), reserved = TRUE))
token <- paste("Bearer", Sys.getenv("TOKEN"))
out <- Sys.getenv("OUT")
`;

export const rClients = scripts('R', {
  command: 'Rscript',
  file: 'pull.R',
  option: '-e',
  clients: [
    {
      name: 'R download.file',
      why: 'waits 60 s in all',
      program: `${r}download.file(full, out, quiet = TRUE, headers = c(Authorization = token))`,
      cures: [
        {
          from: 'download.file(full, out, quiet = TRUE, headers = c(Authorization = token))',
          to: `options(timeout = 2400)
download.file(full, out, quiet = TRUE, headers = c(Authorization = token))`,
        },
      ],
    },
    {
      name: 'R curl',
      needs: 'library(curl)',
      why: 'sends the token on to storage, and follows 10 redirects',
      program: `${r}library(curl)
curl_download(full, out, handle = handle_setheaders(new_handle(), Authorization = token))`,
      cures: [{ from: 'new_handle()', to: 'new_handle(unrestricted_auth = FALSE, maxredirs = 50)' }],
    },
    {
      name: 'R httr',
      needs: 'library(httr)',
      why: 'sends the token on to storage, and follows 10 redirects',
      program: `${r}library(httr)
response <- GET(full, add_headers(Authorization = token))
stop_for_status(response)
writeBin(content(response, "raw"), out)`,
      cures: [
        {
          from: 'add_headers(Authorization = token)',
          to: 'add_headers(Authorization = token), config(unrestricted_auth = 0, maxredirs = 50)',
        },
      ],
    },
  ],
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHere, runProgram } from '../run-program.ts';
import type { Client, Language } from './client.ts';

/** A language whose interpreter runs a file; `libraries` are what the system's packages bring. */
const script = (
  name: string,
  {
    command,
    file,
    clients,
  }: { command: string; file: string; clients: readonly (Client & { needs?: string })[] },
): Language => ({
  name,
  clients,
  async prepare() {
    if (!(await isHere(command, '--version'))) return undefined;
    return async (source, cwd, env) => {
      await writeFile(join(cwd, file), source);
      return runProgram(command, [join(cwd, file)], { cwd, env });
    };
  },
});

const perl = `use strict; use URI::Escape;
my $full = $ENV{URL} . '&filter%5BDeviceOrProxy%5D=' . uri_escape($ENV{TEXT});
my %headers = (Authorization => "Bearer $ENV{TOKEN}");
`;
const perlSave = `open(my $file, '>:raw', $ENV{OUT}); print $file `;

export const perlClients = script('Perl', {
  command: 'perl',
  file: 'pull.pl',
  clients: [
    {
      name: 'Perl LWP::UserAgent',
      program: `${perl}use LWP::UserAgent;
my $client = LWP::UserAgent->new;
my $response = $client->get($full, %headers);
die $response->status_line unless $response->code == 200;
${perlSave}$response->content;`,
      cures: [
        {
          from: 'my $client = LWP::UserAgent->new;',
          to: 'my $client = LWP::UserAgent->new(max_redirect => 30); $client->add_handler(request_prepare => sub { $_[0]->remove_header("Authorization") if $_[0]->uri =~ /X-Amz-/; });',
        },
      ],
    },
    {
      name: 'Perl HTTP::Tiny',
      program: `${perl}use HTTP::Tiny;
my $client = HTTP::Tiny->new();
my $response = $client->get($full, { headers => \\%headers });
die $response->{content} unless $response->{status} == 200;
${perlSave}$response->{content};`,
      cures: [
        { from: 'HTTP::Tiny->new()', to: 'HTTP::Tiny->new(max_redirect => 0)' },
        {
          from: 'die $response',
          to: 'my $at = $full; while ($response->{status} == 303) { require URI; $at = URI->new_abs($response->{headers}{location}, $at); $response = $client->get("$at"); }\ndie $response',
        },
      ],
    },
    {
      name: 'Perl Mojo::UserAgent',
      program: `${perl}use Mojo::UserAgent;
my $client = Mojo::UserAgent->new;
my $response = $client->get($full => \\%headers)->result;
die $response->body unless $response->code == 200;
${perlSave}$response->body;`,
      cures: [
        {
          from: 'Mojo::UserAgent->new',
          to: 'Mojo::UserAgent->new(max_redirects => 30, inactivity_timeout => 60)',
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

export const phpClients = script('PHP', {
  command: 'php',
  file: 'pull.php',
  clients: [
    {
      name: 'PHP curl',
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
      cures: [
        { from: `"Authorization: $token"]]);`, to: `"Authorization: $token", 'follow_location' => 0]]);` },
        {
          from: 'if ($body === false)',
          to: `while (preg_match('{^HTTP/\\S+ 303}', $http_response_header[0]) && preg_match('{^location: *(\\S+)}mi', implode("\\n", $http_response_header), $found)) { $body = file_get_contents($found[1][0] === '/' ? getenv('API_URL') . $found[1] : $found[1], false, stream_context_create(['http' => ['follow_location' => 0]])); }\nif ($body === false)`,
        },
      ],
    },
    {
      name: 'PHP Guzzle',
      program: `${php}require 'GuzzleHttp/autoload.php';
$client = new GuzzleHttp\\Client();
$response = $client->get($full, ['headers' => ['Authorization' => $token]]);
file_put_contents($out, $response->getBody());`,
      cures: [{ from: "['headers' =>", to: "['allow_redirects' => ['max' => 30], 'headers' =>" }],
      note: 'for reports of more than 100 s',
    },
    {
      name: 'PHP Symfony HttpClient',
      program: `${php}require 'Symfony/Component/HttpClient/autoload.php';
$client = Symfony\\Component\\HttpClient\\HttpClient::create();
$response = $client->request('GET', $full, ['headers' => ['Authorization' => $token]]);
file_put_contents($out, $response->getContent());`,
      cures: [{ from: "['headers' =>", to: "['timeout' => 120, 'headers' =>" }],
    },
  ],
});

const ruby = `require 'uri'
full = ENV['URL'] + '&' + URI.encode_www_form('filter[DeviceOrProxy]' => ENV['TEXT'])
headers = { 'Authorization' => "Bearer #{ENV['TOKEN']}" }
save = ->(body) { File.binwrite(ENV['OUT'], body) }
`;

export const rubyClients = script('Ruby', {
  command: 'ruby',
  file: 'pull.rb',
  clients: [
    {
      name: 'Ruby open-uri',
      program: `${ruby}require 'open-uri'
save.(URI.open(full, headers).read)`,
      cures: [
        {
          from: 'save.(URI.open(full, headers).read)',
          to: `begin; save.(URI.open(full, headers.merge(redirect: false)).read); rescue OpenURI::HTTPRedirect => answer; save.(URI.open(answer.uri, read_timeout: 60).read); end`,
        },
      ],
    },
    {
      name: 'Ruby Net::HTTP',
      program: `${ruby}require 'net/http'
response = Net::HTTP.get_response(URI(full), headers)
raise response.body unless response.code == '200'
save.(response.body)`,
      cures: [
        {
          from: 'raise response.body unless',
          to: "at = URI(full); response = Net::HTTP.get_response(at = URI.join(at, response['location'])) while response.code == '303'\nraise response.body unless",
        },
      ],
    },
    {
      name: 'Ruby Faraday',
      program: `${ruby}require 'faraday'
require 'faraday_middleware'
client = Faraday.new { |faraday| faraday.response :follow_redirects; faraday.response :raise_error }
save.(client.get(full, nil, headers).body)`,
      cures: [{ from: ':follow_redirects;', to: ':follow_redirects, limit: 30;' }],
      note: 'for reports of more than half a minute',
    },
    {
      name: 'Ruby HTTParty',
      program: `${ruby}require 'httparty'
response = HTTParty.get(full, headers: headers, format: :plain)
raise response.body unless response.code == 200
save.(response.body)`,
      cures: [
        { from: 'headers: headers,', to: 'headers: headers, follow_redirects: false,' },
        {
          from: 'raise response.body',
          to: "at = URI(full); response = HTTParty.get(at = URI.join(at, response.headers['location']), format: :plain, follow_redirects: false) while response.code == 303\nraise response.body",
        },
      ],
    },
    {
      name: 'Ruby RestClient',
      program: `${ruby}require 'rest-client'
save.(RestClient.get(full, headers).body)`,
      cures: [
        {
          from: 'RestClient.get(full, headers).body',
          to: 'RestClient::Request.execute(method: :get, url: full, headers: headers, max_redirects: 0) { |answer| RestClient.get(URI.join(full, answer.headers[:location]).to_s).body }',
        },
      ],
    },
    {
      name: 'Ruby httpclient',
      program: `${ruby}require 'httpclient'
save.(HTTPClient.new.get_content(full, nil, headers))`,
      cures: [
        {
          from: 'save.(HTTPClient.new.get_content(full, nil, headers))',
          to: "answer = HTTPClient.new.get(full, nil, headers); at = URI(full); answer = HTTPClient.new.get(at = URI.join(at, answer.headers['Location'])) while answer.status == 303; save.(answer.body)",
        },
      ],
    },
    {
      name: 'Ruby http.rb',
      program: `${ruby}require 'http'
response = HTTP.headers(headers).follow.get(full)
raise response.to_s unless response.code == 200
save.(response.body.to_s)`,
      cures: [
        { from: '.follow.get(full)', to: '.get(full)' },
        {
          from: 'raise response.to_s',
          to: "at = URI(full); response = HTTP.get(at = URI.join(at, response['Location'])) while response.code == 303\nraise response.to_s",
        },
      ],
    },
    {
      name: 'Ruby excon',
      program: `${ruby}require 'excon'
response = Excon.get(full, headers: headers, expects: [200])
save.(response.body)`,
      cures: [
        {
          from: 'expects: [200])',
          to: "expects: [200, 303]); at = URI(full); response = Excon.get((at = URI.join(at, response.headers['Location'])).to_s, expects: [200, 303]) while response.status == 303",
        },
      ],
    },
    {
      name: 'Ruby Typhoeus',
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

export const rClients = script('R', {
  command: 'Rscript',
  file: 'pull.R',
  clients: [
    {
      name: 'R download.file',
      program: `${r}download.file(full, out, quiet = TRUE, headers = c(Authorization = token))`,
      cures: [
        {
          from: 'download.file(full, out, quiet = TRUE, headers = c(Authorization = token))',
          to: `library(curl); curl_download(full, out, handle = handle_setheaders(new_handle(unrestricted_auth = FALSE), Authorization = token))`,
        },
      ],
    },
    {
      name: 'R curl',
      program: `${r}library(curl)
curl_download(full, out, handle = handle_setheaders(new_handle(), Authorization = token))`,
      cures: [{ from: 'new_handle()', to: 'new_handle(unrestricted_auth = FALSE)' }],
    },
    {
      name: 'R httr',
      program: `${r}library(httr)
response <- GET(full, add_headers(Authorization = token))
stop_for_status(response)
writeBin(content(response, "raw"), out)`,
      cures: [
        {
          from: 'add_headers(Authorization = token)',
          to: 'add_headers(Authorization = token), config(unrestricted_auth = 0, maxredirs = 30)',
        },
      ],
    },
  ],
});

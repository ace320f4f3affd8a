import { isHere } from '../run-program.ts';
import { type Client, clientsIn, type Language, runFile } from './client.ts';

interface Interpreter {
  readonly command: string;
  readonly file: string;
  /** The interpreter's option that takes a program as its value. */
  readonly option: string;
  readonly clients: readonly Client[];
}

/** Makes a language of each client. If the library of a client is missing, only this client is left out. */
const scripts = (name: string, { command, file, option, clients }: Interpreter): readonly Language[] =>
  clients.map((client) => ({
    name,
    clients: [client],
    runtime: [command, '--version'],
    async prepare() {
      if (client.needs && !(await isHere(command, option, client.needs))) return undefined;
      return runFile(command, file);
    },
  }));

const perl = `use strict; use URI::Escape;
my $full = $ENV{URL} . '&filter%5BDeviceOrProxy%5D=' . uri_escape($ENV{TEXT});
my %headers = (Authorization => "Bearer $ENV{TOKEN}");
`;

export const perlClients = scripts('Perl', {
  ...{ command: 'perl', file: 'pull.pl', option: '-e' },
  clients: clientsIn(
    String.raw`
## Perl LWP::UserAgent | use LWP::UserAgent; use URI::Escape
use LWP::UserAgent;
my $client = LWP::UserAgent->new;
my $response = $client->get($full, %headers);
die $response->status_line unless $response->code == 200;
open(my $file, '>:raw', $ENV{OUT}); print $file $response->content;
## Perl HTTP::Tiny | use URI::Escape
use HTTP::Tiny;
my $client = HTTP::Tiny->new();
my $response = $client->get($full, { headers => \%headers });
die $response->{content} unless $response->{status} == 200;
open(my $file, '>:raw', $ENV{OUT}); print $file $response->{content};
## Perl Mojo::UserAgent | use Mojo::UserAgent; use URI::Escape
use Mojo::UserAgent;
my $client = Mojo::UserAgent->new;
my $response = $client->get($full => \%headers)->result;
die $response->body unless $response->code == 200;
open(my $file, '>:raw', $ENV{OUT}); print $file $response->body;
`,
    (program) => perl + program,
  ),
});

const php = `<?php
$full = getenv('URL') . '&' . http_build_query(['filter[DeviceOrProxy]' => getenv('TEXT')]);
$token = 'Bearer ' . getenv('TOKEN');
$out = getenv('OUT');
`;

export const phpClients = scripts('PHP', {
  ...{ command: 'php', file: 'pull.php', option: '-r' },
  clients: clientsIn(
    String.raw`
## PHP curl | curl_version();
$curl = curl_init($full);
curl_setopt_array($curl, [CURLOPT_HTTPHEADER => ["Authorization: $token"], CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true]);
$body = curl_exec($curl);
if ($body === false) { fwrite(STDERR, curl_error($curl)); exit(1); }
file_put_contents($out, $body);
## PHP file_get_contents
$context = stream_context_create(['http' => ['header' => "Authorization: $token"]]);
$body = file_get_contents($full, false, $context);
if ($body === false) exit(1);
file_put_contents($out, $body);
## PHP Guzzle | require 'GuzzleHttp/autoload.php';
require 'GuzzleHttp/autoload.php';
$client = new GuzzleHttp\Client();
$response = $client->get($full, ['headers' => ['Authorization' => $token]]);
file_put_contents($out, $response->getBody());
## PHP Symfony HttpClient | require 'Symfony/Component/HttpClient/autoload.php';
require 'Symfony/Component/HttpClient/autoload.php';
$client = Symfony\Component\HttpClient\HttpClient::create();
$response = $client->request('GET', $full, ['headers' => ['Authorization' => $token]]);
file_put_contents($out, $response->getContent());
`,
    (program) => php + program,
  ),
});

const ruby = `require 'uri'
full = ENV['URL'] + '&' + URI.encode_www_form('filter[DeviceOrProxy]' => ENV['TEXT'])
headers = { 'Authorization' => "Bearer #{ENV['TOKEN']}" }
save = ->(body) { File.binwrite(ENV['OUT'], body) }
`;

export const rubyClients = scripts('Ruby', {
  ...{ command: 'ruby', file: 'pull.rb', option: '-e' },
  clients: clientsIn(
    `
## Ruby open-uri
require 'open-uri'
save.(URI.open(full, headers).read)
## Ruby Net::HTTP
require 'net/http'
response = Net::HTTP.get_response(URI(full), headers)
raise response.body unless response.code == '200'
save.(response.body)
## Ruby Faraday | require 'faraday_middleware'
require 'faraday'
require 'faraday_middleware'
client = Faraday.new { |faraday| faraday.response :follow_redirects; faraday.response :raise_error }
save.(client.get(full, nil, headers).body)
## Ruby HTTParty | require 'httparty'
require 'httparty'
response = HTTParty.get(full, headers: headers, format: :plain)
raise response.body unless response.code == 200
save.(response.body)
## Ruby RestClient | require 'rest-client'
require 'rest-client'
save.(RestClient.get(full, headers).body)
## Ruby httpclient | require 'httpclient'
require 'httpclient'
save.(HTTPClient.new.get_content(full, nil, headers))
## Ruby http.rb | require 'http'
require 'http'
response = HTTP.headers(headers).follow.get(full)
raise response.to_s unless response.code == 200
save.(response.body.to_s)
## Ruby excon | require 'excon'
require 'excon'
response = Excon.get(full, headers: headers, expects: [200])
save.(response.body)
## Ruby Typhoeus | require 'typhoeus'
require 'typhoeus'
response = Typhoeus.get(full, headers: headers)
raise response.body unless response.code == 200
save.(response.body)
`,
    (program) => ruby + program,
  ),
});

const r = `full <- paste0(Sys.getenv("URL"), "&filter%5BDeviceOrProxy%5D=", URLencode(Sys.getenv("TEXT"), reserved = TRUE))
token <- paste("Bearer", Sys.getenv("TOKEN"))
out <- Sys.getenv("OUT")
`;

export const rClients = scripts('R', {
  ...{ command: 'Rscript', file: 'pull.R', option: '-e' },
  clients: clientsIn(
    `
## R download.file
download.file(full, out, quiet = TRUE, headers = c(Authorization = token))
## R curl | library(curl)
library(curl)
curl_download(full, out, handle = handle_setheaders(new_handle(), Authorization = token))
## R httr | library(httr)
library(httr)
response <- GET(full, add_headers(Authorization = token))
stop_for_status(response)
writeBin(content(response, "raw"), out)
`,
    (program) => r + program,
  ),
});

import type { Access } from '../../../lib/access/access-details.ts';
import { fieldOf, type Metric, type Report } from '../../../lib/report/catalogue.ts';
import { reportPath } from '../../../lib/routes.ts';
import { type Parameters, urlOf } from '../question/request.ts';

const MAX_FIELD_CHARACTERS = 80;

/**
 * The name of a report's file, without its ending: the report, its fields, its first and its last day, such as
 * `publisherperformance_Day-Clicks_2026-03-10_2026-03-13`. It has only letters, digits, `-`, `_` and `.`, since it
 * stands in programs for a shell.
 */
export function fileStem({ name }: Report, parameters: Parameters): string {
  const parameterOf = (parameter: string) => parameters.find(([one]) => one === parameter)?.[1] ?? '';
  const fields = parameterOf('requestedFields').split(',');
  let shown = fields.length;
  while (shown > 1 && fields.slice(0, shown).join('-').length > MAX_FIELD_CHARACTERS) shown -= 1;
  const more = shown < fields.length ? [`and-${fields.length - shown}-more`] : [];
  const end = Date.parse(parameterOf('endExclusive'));
  const last = Number.isNaN(end) ? '' : new Date(end - 1).toISOString().slice(0, 10);
  return [
    name,
    [...fields.slice(0, shown), ...more].join('-'),
    parameterOf('startInclusive').slice(0, 10),
    last,
  ]
    .map((part) => part.replaceAll(/[^\w.-]+/g, ''))
    .filter((part) => part !== '')
    .join('_');
}

/** The request that the programs send. */
interface SnippetRequest {
  /** The service's address, with a slash at its end. */
  readonly service: string;
  readonly report: Report;
  readonly parameters: Parameters;
  /**
   * The source of access tokens. The programs print it if TOKEN is not set. The service accepts no address here that a
   * shell could run as a command.
   */
  readonly access: Access;
}

interface Snippet {
  readonly name: string;
  readonly text: (request: SnippetRequest) => string;
  /** A sentence about what the user must provide. */
  readonly note: (access: Access) => string;
}

/** The end of a sentence that says where a token comes from. It has no quotes, so any program can put it in quotes. */
function tokenSource({ tokenEndpoint, contact }: Access): string {
  if (tokenEndpoint === undefined) return `from ${contact ?? 'whoever gave you the client id and secret'}`;
  const forWhat = `from ${tokenEndpoint} for a client id and secret`;
  return contact === undefined ? forWhat : `${forWhat}, and those from ${contact}`;
}

const noToken = (access: Access): string =>
  `is not set. Put an access token into it. It comes ${tokenSource(access)}.`;

const tokenNote = (access: Access): string =>
  `Takes the access token from the environment variable TOKEN. It comes ${tokenSource(access)}.`;

const fileOf = ({ report, parameters }: SnippetRequest): string => `${fileStem(report, parameters)}.csv`;

/**
 * One single command, so that even an interactive shell runs no part of it without a token. If the answer is a problem
 * document, curl exits with 22 and the document is in the file.
 */
const curl = (request: SnippetRequest): string => {
  const { service, report, parameters, access } = request;
  const file = fileOf(request);
  return `if curl -sS --fail-with-body -L -o ${file}.part \\
  -H "Authorization: Bearer \${TOKEN:?${noToken(access)}}" \\
  '${urlOf(service, report, parameters)}'
then
  mv ${file}.part ${file}
else
  [ $? -ne 22 ] || cat ${file}.part >&2
  rm -f ${file}.part
  false
fi`;
};

/** The Python program. It uses JSON strings, because each is also a valid Python string. */
const python = (request: SnippetRequest): string => {
  const { service, report, parameters, access } = request;
  const file = fileOf(request);
  const pairs = parameters.map(([name, value]) => `(${JSON.stringify(name)}, ${JSON.stringify(value)}),`);
  return `import os

import requests

token = os.environ.get("TOKEN")
if not token:
    raise SystemExit(${JSON.stringify(`TOKEN ${noToken(access)}`)})
response = requests.get(
    ${JSON.stringify(`${service.replace(/\/$/, '')}${reportPath(report)}`)},
    params=[
        ${pairs.join('\n        ')}
    ],
    headers={"Authorization": "Bearer " + token, "Accept": "text/csv"},
    timeout=60,
)
if not response.ok:
    raise SystemExit(f"{response.status_code}: {response.text}")
with open(${JSON.stringify(`${file}.part`)}, "wb") as file:
    file.write(response.content)
os.replace(${JSON.stringify(`${file}.part`)}, ${JSON.stringify(file)})`;
};

/**
 * The R program. It is one expression, because R goes on after a failed line if people paste line by line. It does not
 * use `download.file`, which would not show the problem.
 */
const r = (request: SnippetRequest): string => {
  const { service, report, parameters, access } = request;
  const file = fileOf(request);
  return `report <- local({
  token <- Sys.getenv("TOKEN")
  if (token == "") stop(${JSON.stringify(`TOKEN ${noToken(access)}`)}, call. = FALSE)
  handle <- curl::new_handle(unrestricted_auth = FALSE, maxredirs = 50)
  curl::handle_setheaders(handle, Authorization = paste("Bearer", token), Accept = "text/csv")
  part <- ${JSON.stringify(`${file}.part`)}
  on.exit(unlink(part))
  response <- curl::curl_fetch_disk(
    ${JSON.stringify(urlOf(service, report, parameters))},
    part, handle
  )
  if (response$status_code != 200) {
    problem <- paste(readLines(part, warn = FALSE), collapse = "\\n")
    stop(response$status_code, ": ", problem, call. = FALSE)
  }
  stopifnot(file.rename(part, ${JSON.stringify(file)}))
  read.csv(${JSON.stringify(file)}, check.names = FALSE)
})`;
};

/** The types of metrics in Power Query. `Currency.Type` would keep four decimals of six. */
const METRIC_TYPE: Readonly<Record<Metric['type'], string>> = { integer: 'Int64.Type', float: 'type number' };

const mText = (text: string): string => `"${text.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`;
const mName = (name: string): string => (/^\w+$/.test(name) ? name : `#${mText(name)}`);

/**
 * The Power Query program. Identifiers are text, because Excel keeps only 15 digits of a number. Times lose their zone,
 * because Excel would move them to the zone of the machine. The program lists the
 * statuses whose problem it can show. Power Query itself retries after 429, 503 and 504, and asks for other credentials
 * after 401 and 403, whatever a query says.
 */
function powerQuery({ service, report, parameters, access }: SnippetRequest): string {
  const names = [...new Set(parameters.map(([name]) => name))];
  const query = names.map((name) => {
    const values = parameters.filter(([other]) => other === name).map(([, value]) => mText(value));
    return `            ${mName(name)} = ${values.length > 1 ? `{${values.join(', ')}}` : values[0]}`;
  });
  const requested = parameters.find(([name]) => name === 'requestedFields')?.[1].split(',') ?? [];
  const times: string[] = [];
  const types: string[] = [];
  for (const name of requested) {
    const field = fieldOf(report, name);
    if (field?.role === 'dimension' && field.type === 'datetime') {
      const utc = 'DateTimeZone.RemoveZone(DateTimeZone.FromText(_))';
      const [value, type] = field.grain === 'day' ? [`Date.From(${utc})`, 'date'] : [utc, 'datetime'];
      times.push(`        {${mText(name)}, each ${value}, type ${type}}`);
    } else {
      types.push(
        `        {${mText(name)}, ${field?.role === 'metric' ? METRIC_TYPE[field.type] : 'type text'}}`,
      );
    }
  }
  return [
    'let',
    '    Token = "", // the access token, between the quotes',
    '    Answer = if Token = ""',
    `        then error ${mText(`Token ${noToken(access)}`)}`,
    `        else Web.Contents(${mText(service.replace(/\/$/, ''))}, [`,
    `        RelativePath = ${mText(reportPath(report).slice(1))},`,
    '        Query = [',
    query.join(',\n'),
    '        ],',
    '        Headers = [Authorization = "Bearer " & Token, Accept = "text/csv"],',
    '        ManualStatusHandling = {400, 404, 500, 502}',
    '    ]),',
    '    Body = Binary.Buffer(Answer),',
    '    Status = Value.Metadata(Answer)[Response.Status],',
    '    Detail = try Json.Document(Body)[detail] otherwise Text.FromBinary(Body, TextEncoding.Utf8),',
    '    Report = if Status = 200 then Body else error Error.Record(Number.ToText(Status), Detail),',
    '    Rows = Table.PromoteHeaders(',
    '        Csv.Document(Report, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv])),',
    '    Timed = Table.TransformColumns(Rows, {',
    times.join(',\n'),
    '    }),',
    '    Typed = Table.TransformColumnTypes(Timed, {',
    types.join(',\n'),
    '    }, "en-US")',
    'in',
    '    Typed',
  ].join('\n');
}

/** All forms of the request that people paste, in the order of the tabs. */
export const snippets: readonly Snippet[] = [
  {
    name: 'URL',
    text: ({ service, report, parameters }) => urlOf(service, report, parameters),
    note: (access) =>
      `GET it with the header Authorization: Bearer and your access token. It comes ${tokenSource(access)}.`,
  },
  { name: 'curl', text: curl, note: tokenNote },
  { name: 'Python', text: python, note: (access) => `${tokenNote(access)} Needs the package requests.` },
  { name: 'R', text: r, note: (access) => `${tokenNote(access)} Needs the package curl.` },
  {
    name: 'Power Query',
    text: powerQuery,
    note: (access) =>
      'For Excel and Power BI: a blank query, Advanced Editor. Choose anonymous access. Put the access token ' +
      `between the quotes of Token. It comes ${tokenSource(access)}. Excel keeps 15 digits of a number. Where Power Query asks for credentials again, the token is no longer good.`,
  },
];

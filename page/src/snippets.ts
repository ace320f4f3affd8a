import { type FieldType, fieldOf, type Report } from '../../lib/report/catalogue.ts';
import { reportPath } from '../../lib/routes.ts';
import { type Parameters, urlOf } from './request.ts';

/** What the programs are made for. */
interface SnippetRequest {
  /** The service's address, with a slash at its end. */
  readonly service: string;
  readonly report: Report;
  readonly parameters: Parameters;
}

export interface Snippet {
  readonly name: string;
  readonly text: (request: SnippetRequest) => string;
  /** What the program expects. */
  readonly note: string;
}

const TOKEN_NOTE = 'Takes the access token from the environment variable TOKEN.';

const fileOf = ({ name }: Report): string => `${name}.csv`;

const curl = ({ service, report, parameters }: SnippetRequest): string =>
  [
    `curl -sS --fail-with-body -L -o ${fileOf(report)} \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    `  '${urlOf(service, report, parameters)}'`,
  ].join('\n');

/** A JSON string is also a valid Python string. */
const python = ({ service, report, parameters }: SnippetRequest): string =>
  [
    'import os',
    '',
    'import requests',
    '',
    'response = requests.get(',
    `    ${JSON.stringify(`${service.replace(/\/$/, '')}${reportPath(report)}`)},`,
    '    params=[',
    ...parameters.map(([name, value]) => `        (${JSON.stringify(name)}, ${JSON.stringify(value)}),`),
    '    ],',
    '    headers={"Authorization": "Bearer " + os.environ["TOKEN"], "Accept": "text/csv"},',
    '    timeout=60,',
    ')',
    'if not response.ok:',
    '    raise SystemExit(f"{response.status_code}: {response.text}")',
    `with open(${JSON.stringify(fileOf(report))}, "wb") as file:`,
    '    file.write(response.content)',
  ].join('\n');

/** Base R. Without the option, `download.file` gives up after 60 seconds in all. */
const r = ({ service, report, parameters }: SnippetRequest): string =>
  [
    'options(timeout = 1200)',
    'download.file(',
    `  ${JSON.stringify(urlOf(service, report, parameters))},`,
    `  ${JSON.stringify(fileOf(report))},`,
    '  method = "libcurl",',
    '  headers = c(Authorization = paste("Bearer", Sys.getenv("TOKEN")), Accept = "text/csv")',
    ')',
    `report <- read.csv(${JSON.stringify(fileOf(report))}, check.names = FALSE)`,
  ].join('\n');

const POWER_QUERY_TYPE: Readonly<Record<FieldType, string>> = {
  datetime: 'type datetimezone',
  string: 'type text',
  integer: 'Int64.Type',
  float: 'Currency.Type',
};

const mText = (text: string): string => `"${text.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`;
const mName = (name: string): string => (/^\w+$/.test(name) ? name : `#${mText(name)}`);

/** Identifiers are text: Excel keeps 15 digits of a number. */
function powerQuery({ service, report, parameters }: SnippetRequest): string {
  const names = [...new Set(parameters.map(([name]) => name))];
  const query = names.map((name) => {
    const values = parameters.filter(([other]) => other === name).map(([, value]) => mText(value));
    return `            ${mName(name)} = ${values.length > 1 ? `{${values.join(', ')}}` : values[0]}`;
  });
  const requested = parameters.find(([name]) => name === 'requestedFields')?.[1].split(',') ?? [];
  const types = requested.map((name) => {
    const field = fieldOf(report, name);
    const isId = field?.role === 'dimension' && field.type === 'integer';
    return `        {${mText(name)}, ${isId ? 'type text' : POWER_QUERY_TYPE[field?.type ?? 'string']}}`;
  });
  return [
    'let',
    '    Token = "paste the access token here",',
    `    Report = Web.Contents(${mText(service.replace(/\/$/, ''))}, [`,
    `        RelativePath = ${mText(reportPath(report).slice(1))},`,
    '        Query = [',
    query.join(',\n'),
    '        ],',
    '        Headers = [Authorization = "Bearer " & Token, Accept = "text/csv"]',
    '    ]),',
    '    Rows = Table.PromoteHeaders(',
    '        Csv.Document(Report, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv])),',
    '    Typed = Table.TransformColumnTypes(Rows, {',
    types.join(',\n'),
    '    }, "en-US")',
    'in',
    '    Typed',
  ].join('\n');
}

/** The request in the forms that people paste, in the order of the tabs. */
export const snippets: readonly Snippet[] = [
  {
    name: 'URL',
    text: ({ service, report, parameters }) => urlOf(service, report, parameters),
    note: 'GET it with the header Authorization: Bearer and your access token.',
  },
  { name: 'curl', text: curl, note: TOKEN_NOTE },
  { name: 'Python', text: python, note: `${TOKEN_NOTE} Needs the package requests.` },
  { name: 'R', text: r, note: TOKEN_NOTE },
  {
    name: 'Power Query',
    text: powerQuery,
    note: 'For Excel and Power BI: a blank query, Advanced Editor. Choose anonymous access.',
  },
];

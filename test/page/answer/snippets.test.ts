import { describe, expect, it } from 'vitest';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import { fileStem, snippets } from '../../../page/src/answer/snippets.ts';

const request = {
  service: 'https://api.example/dev/',
  report: publisherReport,
  parameters: [
    ['requestedFields', 'Day,PlacementId,DeviceOrProxy,Clicks,Revenue'],
    ['startInclusive', '2026-01-01T00:00:00Z'],
    ['endExclusive', '2026-02-01T00:00:00Z'],
    ['filter[DeviceOrProxy]', 'say "hi" #(tab)'],
    ['filter[DeviceOrProxy]', "O'Brien"],
    ['api-version', '1.0'],
  ],
  access: {},
} as const;
const text = (name: string) => snippets.find((snippet) => snippet.name === name)?.text(request);

describe('the request to paste', () => {
  // test/clients runs the other programs.
  it('is a Power Query program whose types keep every digit, and days that no zone moves', () => {
    expect(text('Power Query')).toBe(`let
    Token = "", // the access token, between the quotes
    Answer = if Token = ""
        then error "Token is not set. Put an access token into it. It comes from whoever gave you the client id and secret."
        else Web.Contents("https://api.example/dev", [
        RelativePath = "reporting/publisherperformance",
        Query = [
            requestedFields = "Day,PlacementId,DeviceOrProxy,Clicks,Revenue",
            startInclusive = "2026-01-01T00:00:00Z",
            endExclusive = "2026-02-01T00:00:00Z",
            #"filter[DeviceOrProxy]" = {"say ""hi"" #(#)(tab)", "O'Brien"},
            #"api-version" = "1.0"
        ],
        Headers = [Authorization = "Bearer " & Token, Accept = "text/csv"],
        ManualStatusHandling = {400, 404, 500, 502}
    ]),
    Body = Binary.Buffer(Answer),
    Status = Value.Metadata(Answer)[Response.Status],
    Detail = try Json.Document(Body)[detail] otherwise Text.FromBinary(Body, TextEncoding.Utf8),
    Report = if Status = 200 then Body else error Error.Record(Number.ToText(Status), Detail),
    Rows = Table.PromoteHeaders(
        Csv.Document(Report, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv])),
    Timed = Table.TransformColumns(Rows, {
        {"Day", each Date.From(DateTimeZone.RemoveZone(DateTimeZone.FromText(_))), type date}
    }),
    Typed = Table.TransformColumnTypes(Timed, {
        {"PlacementId", type text},
        {"DeviceOrProxy", type text},
        {"Clicks", Int64.Type},
        {"Revenue", type number}
    }, "en-US")
in
    Typed`);
  });

  it.each([
    [{}, 'It comes from whoever gave you the client id and secret.'],
    [{ contact: 'reports@example.com' }, 'It comes from reports@example.com.'],
    [
      { tokenEndpoint: 'https://login.example/token' },
      'It comes from https://login.example/token for a client id and secret.',
    ],
    [
      { tokenEndpoint: 'https://login.example/token', contact: 'https://help.example/access' },
      'It comes from https://login.example/token for a client id and secret, and those from https://help.example/access.',
    ],
  ])('says in each note and in each program where a token comes from: %j', (access, sentence) => {
    for (const { name, note, text } of snippets) {
      expect(note(access), name).toContain(sentence);
      if (name !== 'URL') expect(text({ ...request, access }), name).toContain(sentence);
    }
  });
});

const asked = (fields: string, start = '2026-03-10T00:00:00Z', end = '2026-03-14T00:00:00Z') =>
  [
    ['requestedFields', fields],
    ['startInclusive', start],
    ['endExclusive', end],
  ] as const;

describe('the name of a file', () => {
  it.each([
    [asked('Day,Clicks'), 'publisherperformance_Day-Clicks_2026-03-10_2026-03-13'],
    [
      asked('Day'.concat(',PublisherCompanyId'.repeat(6))),
      /^publisherperformance_Day(-PublisherCompanyId){4}-and-2-more_/,
    ],
    // The address of the page may hold anything: the name is safe in a shell, and in a path.
    [asked("$(rm -rf),'../x", 'no time', ''), 'publisherperformance_rm-rf-..x_notime'],
    [[], 'publisherperformance'],
  ])('tells report, fields, first and last day: %#', (parameters, name) => {
    expect(fileStem(publisherReport, parameters)).toMatch(name);
    expect(fileStem(publisherReport, parameters)).toMatch(/^[\w.-]+$/);
  });

  it('is another one for each report', () => {
    expect(fileStem(advertiserReport, asked('Day'))).toMatch(/^advertiserperformance_/);
  });
});

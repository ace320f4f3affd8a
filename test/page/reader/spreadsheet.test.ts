import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { spreadsheetOf } from '../../../page/src/reader/spreadsheet.ts';
import { AWKWARD_TEXT } from '../../e2e/known-events.ts';
import { PUBLISHER, rowsOf, stored, tableFor } from './stored.ts';

/** The XML of the first sheet of a table's workbook. */
async function sheetOf(fields: string, cells: readonly (readonly (string | null)[])[]) {
  const table = tableFor(stored(fields, cells));
  const { file, textNumbers } = spreadsheetOf(PUBLISHER, table, Uint32Array.from(cells.keys()), []);
  const parts = unzipSync(new Uint8Array((await file?.arrayBuffer()) ?? []));
  return { xml: Buffer.from(parts['xl/worksheets/sheet1.xml'] ?? []).toString(), textNumbers };
}

/** The texts of a sheet's text cells, as the format (ECMA-376, ST_Xstring) and XML are read. */
const textsIn = (xml: string): string[] =>
  [...xml.matchAll(/<t(?: xml:space="preserve")?>(.*?)<\/t>/gs)].map(([, text = '']) =>
    text
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .replaceAll(/_x([\dA-F]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
  );

describe('the workbook of a table', () => {
  it('keeps every text, however awkward, and never as a formula', async () => {
    const texts = [...AWKWARD_TEXT, '_x0041_', '\u0001\u001f\ufffe', '<&>"', '\ufffd'];
    const { xml } = await sheetOf(
      'DeviceOrProxy',
      texts.map((text) => [text]),
    );
    expect(textsIn(xml)).toEqual(['DeviceOrProxy', ...texts]);
    expect(xml).not.toMatch(/<f>|[^\t\n\x20-\ufffd]/);
  });

  it('has each number that a spreadsheet would round as a text, and says how many', async () => {
    const { xml, textNumbers } = await sheetOf(
      'Clicks Revenue',
      rowsOf(
        '999999999999999 999999999.999999; 1000000000000001 1000000000.000001; 1 12345678901234.500000; 0 -',
      ),
    );
    expect(textNumbers).toBe(2);
    expect([...xml.matchAll(/<v>(.*?)<\/v>/g)].map(([, number]) => number)).toEqual([
      ...['999999999999999', '999999999.999999', '0.000001', '0.000001'],
      ...['1', '12345678901234.500000', '12345678901234.500000', '0'],
    ]);
    expect(textsIn(xml).slice(3)).toEqual(['1000000000000001', '1000000000.000001']);
  });

  it('is none if a sheet cannot hold the rows', () => {
    const table = tableFor(stored('Clicks', [['1']]));
    expect(spreadsheetOf(PUBLISHER, table, new Uint32Array(1_048_576), [])).toEqual({ textNumbers: 0 });
  });
});

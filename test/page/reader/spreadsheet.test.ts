import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { spreadsheetOf } from '../../../page/src/reader/spreadsheet.ts';
import type { Table } from '../../../page/src/reader/table.ts';
import { allRows } from '../../../page/src/reader/table-view.ts';
import { AWKWARD_TEXT } from '../../e2e/known-events.ts';
import { PUBLISHER, rowsOf, stored, storedBefore, tableFor } from './stored.ts';

async function sheetOf(table: Table) {
  const { file, textNumbers } = spreadsheetOf(PUBLISHER, table, allRows(table), []);
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
    const rows = texts.map((text) => [text]);
    const { xml } = await sheetOf(tableFor(stored('DeviceOrProxy', rows)));
    expect(textsIn(xml)).toEqual(['DeviceOrProxy', ...texts]);
    expect(xml).not.toMatch(/<f>|[^\t\n\x20-\ufffd]/);
  });

  it('has each number that a spreadsheet would round as a text, and says how many', async () => {
    const rows =
      '999999999999999 999999999.999999; 1000000000000001 1000000000.000001; 1 12345678901234.500000; 0 -';
    const { xml, textNumbers } = await sheetOf(tableFor(stored('Clicks Revenue', rowsOf(rows))));
    expect(textNumbers).toBe(2);
    expect([...xml.matchAll(/<v>(.*?)<\/v>/g)].map(([, number]) => number)).toEqual([
      ...['999999999999999', '999999999.999999', '0.000001', '0.000001'],
      ...['1', '12345678901234.500000', '12345678901234.500000', '0'],
    ]);
    expect(textsIn(xml).slice(3)).toEqual(['1000000000000001', '1000000000.000001']);
  });

  it('has ids as texts, days and hours as dates, ratios by their unit, and both periods of a comparison', async () => {
    const now = stored('Day DateTime PlacementId ServedAds Clicks', rowsOf('d1 2026-02-01T06:00:00Z 7 8 3'));
    const { xml } = await sheetOf(tableFor(now, storedBefore(now, rowsOf('d1 - 12 4 1'))));
    const rows = [...xml.matchAll(/<row [^>]*>(.*?)<\/row>/g)].map(([, row = '']) =>
      row.replaceAll(
        /<c r="\w+"(?: s="(\d)")?( t="inlineStr")?>(.*?)<\/c>/g,
        (_, style = 0, isText, cell) => `${isText ? 'text' : style} ${cell.replaceAll(/<[^>]+>/g, '')}, `,
      ),
    );
    expect(rows).toEqual([
      expect.stringMatching(
        / text Clicks before, text Clicks change, text Clicks change %, text CTR \(derived, %\), $/,
      ),
      // Days since 1899-12-30, in the styles of a day and of an hour.
      '1 46054, 2 46054.25, text 7, 0 8, text no row, 0 8, 0 3, text no row, 0 3, 0 37.500000, ',
      '1 46054, text 12, text no row, 0 4, 0 -4, 0 -100.00, text no row, 0 1, 0 -1, 0 -100.00, text no row, ',
    ]);
  });

  it('is none if a sheet cannot hold the rows', () => {
    const table = tableFor(stored('Clicks', [['1']]));
    expect(spreadsheetOf(PUBLISHER, table, new Uint32Array(1_048_576), [])).toEqual({ textNumbers: 0 });
  });
});

/**
 * The table as a workbook (Office Open XML, ECMA-376). In a CSV, spreadsheets guess the types: they round long ids, and
 * read days and decimals by the language of the machine. In a workbook each cell has its type.
 */
import { strToU8, Zip, ZipDeflate } from 'fflate';
import { type Field, fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { unitOf } from './ratios.ts';
import type { ShownCell, Spreadsheet, TableColumn } from './reader-messages.ts';
import type { Table } from './table.ts';

/** Pieces are moved into a blob when they have this many bytes, because a blob's bytes are not on the heap. */
const BLOB_BYTES = 4_000_000;

/** Keeps the bytes of a file for the download. */
export function piecesToBlob(type: string) {
  const blobs: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let pieceBytes = 0;
  const toBlob = () => {
    blobs.push(new Blob(pieces));
    pieces = [];
    pieceBytes = 0;
  };
  return {
    add(piece: Uint8Array<ArrayBuffer>): void {
      pieces.push(piece);
      pieceBytes += piece.length;
      if (pieceBytes >= BLOB_BYTES) toBlob();
    },
    whole(): Blob {
      toBlob();
      return new Blob(blobs, { type });
    },
  };
}

const MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
/** The rows of a sheet, without the header (Excel's specifications and limits). */
const MAX_ROWS = 1_048_575;
/** The characters of a cell, and the digits of a number that Excel keeps (the same page). */
const MAX_CHARACTERS = 32_767;
const MAX_DIGITS = 15;
/** The day that spreadsheets number 0 is so many days before 1970. */
const DAYS_BEFORE_1970 = 25_569;
const DAY_MS = 86_400_000;
const ROWS_AT_ONCE = 1_000;

/** The styles of styles.xml, by their place in it. */
const STYLE = { plain: 0, day: 1, hour: 2, header: 3 } as const;
const STYLES =
  `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/></font><font><b/><sz val="11"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>' +
  '<fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/>' +
  '<xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/>' +
  '<xf fontId="1" applyFont="1"/></cellXfs><cellStyles count="1">' +
  '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

const relation = (id: number, type: string, target: string): string =>
  `<Relationship Id="r${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
const relations = (...those: string[]): string =>
  `<Relationships xmlns="${PACKAGE}/relationships">${those.join('')}</Relationships>`;
const part = (name: string, type: string): string =>
  `<Override PartName="/xl/${name}.xml" ContentType="${MEDIA_TYPE.replace(/sheet$/, type)}+xml"/>`;

/** The parts of the workbook that are always the same: which parts there are, and what they are to each other. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml':
    `<Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `${part('workbook', 'sheet.main')}${part('styles', 'styles')}` +
    `${part('worksheets/sheet1', 'worksheet')}${part('worksheets/sheet2', 'worksheet')}</Types>`,
  '_rels/.rels': relations(relation(1, 'officeDocument', 'xl/workbook.xml')),
  'xl/workbook.xml':
    `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="Table" sheetId="1" r:id="r1"/>` +
    '<sheet name="About" sheetId="2" r:id="r2"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels': relations(
    relation(1, 'worksheet', 'worksheets/sheet1.xml'),
    relation(2, 'worksheet', 'worksheets/sheet2.xml'),
    relation(3, 'styles', 'styles.xml'),
  ),
  'xl/styles.xml': STYLES,
};

/** The name of a column, from its index: A, B, … Z, AA. */
const letters = (index: number): string =>
  (index < 26 ? '' : letters(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));

const MARKS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text in XML. The format has an escape of its own for characters that XML cannot hold (22.9.2.19, ST_Xstring). */
const escaped = (text: string): string =>
  text.replaceAll(
    /[&<>"]|_(?=x[\da-f]{4}_)|[^\t\n\x20-\ufffd]/gi,
    (sign) => MARKS[sign] ?? `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  );

type Cell = (at: string) => string;

const cellAt = (at: string, style: number): string =>
  `<c r="${at}"${style === STYLE.plain ? '' : ` s="${style}"`}`;

function textCell(text: string, style: number = STYLE.plain): Cell {
  // Without this attribute, a reader may drop blanks at the edges.
  const space = /^\s|\s$/.test(text) ? ' xml:space="preserve"' : '';
  const words = escaped(text.slice(0, MAX_CHARACTERS));
  return (at) => `${cellAt(at, style)} t="inlineStr"><is><t${space}>${words}</t></is></c>`;
}

const numberCell =
  (digits: string | number, style: number = STYLE.plain): Cell =>
  (at) =>
    `${cellAt(at, style)}><v>${digits}</v></c>`;

const rowOf = (cells: readonly (Cell | undefined)[], row: number): string =>
  `<row r="${row}">${cells.map((cell, column) => cell?.(letters(column) + row) ?? '').join('')}</row>`;

/** Whether a spreadsheet keeps every digit of a number. */
const isKept = (digits: string): boolean => {
  if (digits.length <= MAX_DIGITS) return true;
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  return (whole + fraction.replace(/0+$/, '')).replace(/^0+/, '').length <= MAX_DIGITS;
};

function cellFor(cell: ShownCell, { kind }: TableColumn, field: Field | undefined): Cell | undefined {
  if (cell === null) return undefined;
  if (cell === undefined) return textCell('no row');
  if (kind !== 'dimension') return isKept(cell) ? numberCell(cell) : textCell(cell);
  if (field?.role !== 'dimension' || field.type !== 'datetime') return textCell(cell);
  const days = Date.parse(cell) / DAY_MS + DAYS_BEFORE_1970;
  return numberCell(days, field.grain === 'day' ? STYLE.day : STYLE.hour);
}

/** The name of a column. A ratio is marked as the page's own, and has its unit. */
const headerOf = ({ id, kind, of }: TableColumn): string =>
  kind === 'ratio' ? `${id} (derived${unitOf(of) === 'percent' ? ', %' : ''})` : id;

const sheet = (rows: string): string =>
  `<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ` +
  `activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>${rows}`;
const SHEET_END = '</sheetData></worksheet>';

/**
 * The rows of a view as a workbook: ids are texts, days and hours are dates. A number of more digits than a spreadsheet
 * keeps is a text. The second sheet has the facts.
 */
export function spreadsheetOf(
  report: string,
  table: Table,
  rows: Uint32Array,
  facts: readonly (readonly [name: string, value: string])[],
): Spreadsheet {
  if (rows.length > MAX_ROWS) return { textNumbers: 0 };
  const known = reportOf(report);
  const columns = table.columns.map((column) => ({
    column,
    field: known && fieldOf(known, column.shown.of),
  }));
  const bytes = piecesToBlob(MEDIA_TYPE);
  // The pieces have memory of their own, and are never shared.
  const zip = new Zip((_, piece) => bytes.add(piece as Uint8Array<ArrayBuffer>));
  const add = (name: string, texts: Iterable<string>) => {
    const entry = new ZipDeflate(name, { level: 6 });
    zip.add(entry);
    entry.push(strToU8('<?xml version="1.0" encoding="UTF-8"?>'));
    for (const text of texts) entry.push(strToU8(text));
    entry.push(new Uint8Array(0), true);
  };
  let textNumbers = 0;
  function* tableSheet() {
    yield sheet(
      rowOf(
        columns.map(({ column }) => textCell(headerOf(column.shown), STYLE.header)),
        1,
      ),
    );
    for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
      let text = '';
      for (const [index, row] of rows.subarray(first, first + ROWS_AT_ONCE).entries()) {
        const cells = columns.map(({ column, field }) => {
          const cell = column.cell(row);
          if (column.shown.kind !== 'dimension' && cell && !isKept(cell)) textNumbers += 1;
          return cellFor(cell, column.shown, field);
        });
        text += rowOf(cells, first + index + 2);
      }
      yield text;
    }
    yield SHEET_END;
  }
  const factRows = facts.map(([name, value], index) =>
    rowOf([textCell(name, STYLE.header), textCell(value)], index + 1),
  );
  for (const [name, text] of Object.entries(PARTS)) add(name, [text]);
  add('xl/worksheets/sheet1.xml', tableSheet());
  add('xl/worksheets/sheet2.xml', [sheet(factRows.join('')), SHEET_END]);
  zip.end();
  return { file: bytes.whole(), textNumbers };
}

import { useEffect, useState } from 'preact/hooks';
import { Pill } from '../buttons.tsx';
import { counted } from '../format.ts';
import { questionWords } from '../question/question-words.ts';
import { chosenReport, urlOf } from '../question/request.ts';
import { askSpreadsheet, type Run, spreadsheet } from '../run.ts';
import { serviceAddress } from '../service-facts.ts';
import { fileStem } from './snippets.ts';
import { view } from './table-rows.ts';

/**
 * The links to the report's file and to the table as it is shown. The first leads to the file's bytes if the page has
 * read them, else to the download store.
 *
 * @param isEarlier whether the answer is an earlier one, which stays beside a run that has brought none
 */
export function Downloads({ run, isEarlier = false }: { readonly run: Run; readonly isEarlier?: boolean }) {
  const { file, downloadUrl } = run;
  const url = useObjectUrl(file);
  const href = file ? url : downloadUrl;
  const stem = stemOf(run);
  const isUnderWay = spreadsheet.value === 'under way';
  if (href === undefined) return null;
  return (
    <span class="downloads">
      <a class="primary" href={href} download={`${stem}.csv`}>
        {isEarlier ? 'Download the earlier CSV' : 'Download CSV'}
      </a>
      {file && (
        <Pill
          aria-disabled={isUnderWay}
          onClick={() => isUnderWay || askSpreadsheet(factsOf(run), `${stem}_as-shown.xlsx`)}
        >
          {isEarlier ? 'The earlier table as shown (Excel)' : 'The table as shown (Excel)'}
        </Pill>
      )}
      <span class="hint" role="status">
        {file && spreadsheetWords(spreadsheet.value)}
      </span>
    </span>
  );
}

function spreadsheetWords(made: typeof spreadsheet.value): string {
  if (made === undefined) return '';
  if (made === 'under way') return 'Being made …';
  if (!made.file) return 'A sheet holds 1,048,575 rows at most. Search the rows, or show fewer.';
  return made.textNumbers === 0
    ? ''
    : `${counted(made.textNumbers, 'number')} of more than 15 digits: text in the sheet, which would round them.`;
}

/** The name of an answer's files. In a comparison, with the days before. */
function stemOf({ choice, requests, compared }: Run): string {
  const report = chosenReport(choice);
  const [own, before] = requests.map(({ parameters }) => fileStem(report, parameters));
  const other = before?.split('_').slice(-2).join('_');
  return compared && other ? `${own}_against_${other}` : (own ?? report.name);
}

/** What must be known to read the table elsewhere, for its second sheet. */
function factsOf({ choice, days, requests, caller, compared }: Run): [string, string][] {
  const { sort, search, top } = view.value;
  const report = chosenReport(choice);
  const pairs = compared?.pairs.map(({ day, before }) => `${day} beside ${before}`) ?? [];
  const facts: [string, string][] = [
    ['Question', questionWords(choice, days)],
    ['Asked as', caller.id],
    ...requests.map(({ parameters }, index): [string, string] => [
      index === 0 ? 'Request' : 'Request of the days before',
      urlOf(serviceAddress, report, parameters),
    ]),
    ['Days compared', pairs.join('; ')],
    ['Order', sort ? `${sort.column}, ${sort.isDescending ? 'descending' : 'ascending'}` : ''],
    ['Search', search],
    ['Rows', top === undefined ? '' : `the first ${top}`],
  ];
  return facts.filter(([, value]) => value !== '');
}

/** The address of a file in the page's memory; undefined until it is made. */
function useObjectUrl(file: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!file) return setUrl(undefined);
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}

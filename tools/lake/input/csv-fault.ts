/** Turns DuckDB's message about a CSV file into one line with a cure. DuckDB's own hints are for programmers. */
export function csvFault(message: string): string {
  const [first = ''] = message.split('\n', 1);
  const [, line] = /CSV Error on Line: (\d+)/.exec(message) ?? [];
  if (/Error when sniffing file/.test(first))
    return 'it is no CSV that can be understood: it must be whole, in UTF-8, and all its lines must end alike';
  if (!line) return first;
  if (/Invalid unicode/.test(message)) return `line ${line} is no UTF-8. Write the file in UTF-8`;
  const [, text = ''] = /^Original Line: (.*)/m.exec(message) ?? [];
  return (
    `line ${line} does not have the fields that the first line names: ${JSON.stringify(text.slice(0, 200))}. ` +
    'Put quotes around a text with a separator, a quote or a line break, and write a quote inside a text twice, ' +
    'as in "say ""hi""" (Spark: option("escape", "\\""))'
  );
}

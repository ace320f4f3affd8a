/** The text that `npm start` prints when the service is ready: the addresses, and what to try next. */
export const lastScreen = ({
  apiUrl,
  curl,
  stackFile,
}: {
  readonly apiUrl: string;
  /** A shell command, in one line, that fetches a report. */
  readonly curl: string;
  readonly stackFile: string;
}): string => `
Ready at ${apiUrl}. Try:

1. The page: open ${apiUrl}/ in a browser and build a report by looking.
2. A report in a shell:

${curl}

3. Your own program: docs/clients.md. Your own events, partners and faults: docs/local.md. All documents: docs/README.md.

Addresses and credentials are in ${stackFile}. Ctrl-C stops the service.
`;

/**
 * Makes the documents that the service serves: those of the repository for its callers, as pages, and `llms.txt`. What
 * depends on the deployment is a `{{name}}`, which `lib/http/public-handler.ts` fills in.
 */
import { basename, join } from 'node:path';
import { Marked, Renderer, type Tokens } from 'marked';

/** The documents, in the order of the navigation. The first one is at `/docs`, the others below it by their names. */
const DOCUMENTS: ReadonlyMap<string, string> = new Map([
  ['docs/first-report.md', ''],
  ...'contract problems clients incremental-pull generated-clients page'
    .split(' ')
    .map((name) => [`docs/${name}.md`, name] as const),
  ...'cures curl python node java dotnet r duckdb spreadsheets'
    .split(' ')
    .map((name) => [`docs/programs/${name}.md`, name] as const),
  ['connectors/dlt/README.md', 'dlt'],
  ['connectors/airbyte/README.md', 'airbyte'],
  ['connectors/mcp/README.md', 'mcp'],
  ['CHANGELOG.md', 'changes'],
]);

/** Files that the documents lead to. They are served as they are. */
const FILES = ['docs/programs/incremental_pull.py', 'connectors/airbyte/manifest.yaml'];

/** What the documents have as an example, and what the service knows better. */
const FILLED_IN = {
  'http://127.0.0.1:8080': 'service',
  'https://login.example/token': 'tokenEndpoint',
  'api://performance-reports/.default': 'scope',
  '{api scope}/.default': 'scope',
  'reports@example.com': 'contact',
  'in EUR': 'currency',
  'at most 5 new ones are made at one time, and others wait': 'slots',
  '10 minutes in the queue and 10 running': 'longest',
};

const urlOf = (name: string) => `{{base}}/docs${name && `/${name}`}`;

/** Where a link leads in the service; undefined if its document is not for callers. */
function served(from: string, href: string): string | undefined {
  if (/^[a-z]+:/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = path === '' ? from : join(from, '..', path);
  const document = DOCUMENTS.get(file);
  if (document !== undefined) return urlOf(document) + (anchor === undefined ? '' : `#${anchor}`);
  if (file === 'docs/openapi.json') return '{{base}}/openapi.json';
  return FILES.includes(file) ? urlOf(basename(file)) : undefined;
}

/**
 * The files of the documents, by their paths below the page's folder.
 *
 * @param read gives the text of a file of the repository
 */
export function makeDocuments(read: (file: string) => string): Readonly<Record<string, string>> {
  const texts = [...DOCUMENTS].map(([file, name]) => ({
    file,
    name,
    text: textOf(file, filledIn(read(file))),
  }));
  const entries = texts.map(({ name, text }) => ({ name, title: titleOf(text) }));
  const navigation = entries
    .map(({ name, title }) => `<li><a href="${urlOf(name)}">${title}</a></li>`)
    .join('');
  const list = entries
    .map(({ name, title }) => `- [${title}](${urlOf(name).replace('base', 'service')})`)
    .join('\n');
  const template = read('page/src/document.html');
  return {
    ...Object.fromEntries(
      texts.map(({ file, name, text }, index) => {
        const filling = { ...rendered(file, text, read), title: entries[index]?.title, navigation };
        const html = template.replaceAll(
          /<!-- (\w+) -->/g,
          (_, key: keyof typeof filling) => filling[key] ?? '',
        );
        return [`docs/${name || 'index'}.html`, html];
      }),
    ),
    ...Object.fromEntries(FILES.map((file) => [`docs/${basename(file)}`, read(file)])),
    'docs/llms.txt': `${filledIn(read('docs/llms.txt'))}${list}\n`,
  };
}

const titleOf = (text: string): string => /^# (.*)$/m.exec(text)?.[1] ?? '';

const filledIn = (text: string) =>
  Object.entries(FILLED_IN).reduce((all, [example, name]) => all.replaceAll(example, `{{${name}}}`), text);

/** The text of a document. Of the changelog, only the parts for callers are for callers. */
function textOf(file: string, text: string): string {
  if (file !== 'CHANGELOG.md') return text;
  const [, ...versions] = text.split(/^## /m);
  const parts = versions.flatMap((version) => {
    const [, ofCallers] = version.split(/^### .*$/m);
    return ofCallers === undefined ? [] : [`## ${version.split('\n')[0]}\n${ofCallers}`];
  });
  return ['# What changed for callers\n', ...parts].join('\n');
}

/** Commands of the repository, which callers don't have. */
const OF_REPOSITORY = /^(npm (run|start)|\.ci\/)/;

/**
 * A document in HTML, and its contents. A paragraph that begins with a command of the repository is left out. A link
 * that has the name of a document has its title instead.
 */
function rendered(file: string, text: string, read: (file: string) => string) {
  const ids = new Set<string>();
  const sections: string[] = [];
  let tables = 0;
  const plain = new Renderer();
  const renderer: Partial<Renderer> = {
    html: () => '',
    heading({ tokens, depth, text }: Tokens.Heading) {
      const words = text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const id = ids.has(words) ? `${words}-1` : words;
      ids.add(id);
      const inline = this.parser?.parseInline(tokens) ?? '';
      const level = ids.size > 1 && depth === 1 ? 2 : depth;
      if (level === 2) sections.push(`<li><a href="#${id}">${inline}</a></li>`);
      return `<h${level} id="${id}">${inline}</h${level}>`;
    },
    paragraph(token: Tokens.Paragraph) {
      const [first] = token.tokens;
      const isOfRepository = first?.type === 'codespan' && OF_REPOSITORY.test(first.text);
      return isOfRepository ? '' : plain.paragraph.call(this as Renderer, token);
    },
    codespan(token: Tokens.Codespan) {
      return plain.codespan(token) + (OF_REPOSITORY.test(token.text) ? ' (for operators)' : '');
    },
    link({ href, text, tokens }: Tokens.Link) {
      const inline = text.endsWith('.md')
        ? titleOf(read(join(file, '..', href.replace(/#.*/, ''))))
        : this.parser?.parseInline(tokens);
      const target = served(file, href);
      const reader = /decisions|CONTRIBUTING|architecture/.test(href) ? 'developers' : 'operators';
      return target ? `<a href="${target}">${inline}</a>` : `${inline} (for ${reader})`;
    },
    table(token: Tokens.Table) {
      tables += 1;
      const html = plain.table.call(this as Renderer, token);
      return `<div class="wide" role="group" tabindex="0" aria-label="Table ${tables}">${html.replaceAll('<th></th>', '<td></td>')}</div>`;
    },
    code: ({ text }: Tokens.Code) =>
      `<pre tabindex="0"><code>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</code></pre>`,
  };
  const body = new Marked({ renderer }).parse(text, { async: false });
  return {
    body,
    contents: sections.length < 2 ? '' : `<nav aria-label="Contents"><ul>${sections.join('')}</ul></nav>`,
  };
}

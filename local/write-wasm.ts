/** `npm run wasm`: compiles lib/csv/drop-number-quotes.wat into the TypeScript file beside it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileWat } from './compile-wat.ts';

const file = join(import.meta.dirname, '..', 'lib', 'report', 'drop-number-quotes');
const wasm = await compileWat(`${file}.wat`);
await writeFile(
  `${file}.wasm.ts`,
  `/** What \`npm run wasm\` makes of drop-number-quotes.wat, in base64. */
export const wasm =
  '${wasm.toString('base64')}';
`,
);

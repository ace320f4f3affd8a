/** `node synthesize-templates.ts <new, grown or kept> <folder>` writes a stage's templates into the folder. */
import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { addStage } from '../../infra/add-stage.ts';
import { readStage } from '../../infra/stage.ts';
import { linted } from '../infra/accounts.ts';

const [account, outdir = ''] = process.argv.slice(2);
const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
const app = new App({ outdir, context, analyticsReporting: false });
// The longest name that a stage may have.
addStage(app, readStage('sixteen-letters1', linted[account as keyof typeof linted]), {
  code: () => Code.fromInline('// bundled'),
  name: '0123456789ab-c0ffee',
});
app.synth();

/** `npm run lake -- check | convert | hourly | init`: maintains the events that the reports are computed from. */
import { lakeCommand } from './lake/command.ts';

process.exitCode = await lakeCommand(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});

/** `npm run lake -- check | convert | hourly | init`: looks after the events that the reports are made of. */
import { lakeCommand } from './lake/command.ts';

process.exitCode = await lakeCommand(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});

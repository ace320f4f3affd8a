import { parseArgs } from 'node:util';
import { EventsFault } from '../../local/events/events-fault.ts';
import { check } from './check.ts';
import { convert } from './convert.ts';
import { TIME_UNITS, type TimeUnit } from './exact-value.ts';
import { init } from './init.ts';
import { LakeFault } from './lake-fault.ts';

const USAGE = `npm run lake -- check <folder | s3://bucket/prefix> [--footers] [--all]
  Lists everything that is wrong with a lake, the worst first. Exit 0 where reports will be right.
  --footers  read no records, only what the files' footers tell
  --all      name every file of a finding

npm run lake -- convert <files, folders or s3://…> --to <folder | s3://bucket/prefix> [--hourly] [--replace] [--open]
                [--table <name>] [--time-unit <unit>]
  Makes days of a lake from CSV or Parquet files, exactly or not at all.
  --hourly     sum each hour's records of equal dimensions
  --replace    write days again that have files already: they hold only the converted records then
  --open       mark no day as final; today never is
  --table      publisher_events or advertiser_events, where the columns don't tell
  --time-unit  what whole numbers in event_time count: ${Object.keys(TIME_UNITS).join(', ')}

npm run lake -- init <folder | s3://bucket/prefix>
  Makes the tables that are missing, empty.
`;

/** The exit code where the work could not be done, and so the lake is neither right nor wrong. */
const NOT_DONE = 2;

/** Where a command writes. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Does what the arguments ask. Resolves to the exit code. */
export async function lakeCommand(parameters: readonly string[], { out, err }: Output): Promise<number> {
  try {
    return await run(parameters, out);
  } catch (error) {
    const isUsage = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS');
    // A full disk, a folder without the right to write: what the system says is all there is to say.
    const isSystems = (error as NodeJS.ErrnoException).syscall !== undefined;
    const isKnown = error instanceof LakeFault || error instanceof EventsFault;
    if (!isUsage && !isSystems && !isKnown) throw error;
    err(`${(error as Error).message}\n${isUsage ? `\n${USAGE}` : ''}`);
    return NOT_DONE;
  }
}

async function run(parameters: readonly string[], say: Output['out']): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      footers: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      to: { type: 'string' },
      hourly: { type: 'boolean', default: false },
      replace: { type: 'boolean', default: false },
      open: { type: 'boolean', default: false },
      table: { type: 'string' },
      'time-unit': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [command, ...locations] = positionals;
  const [location] = locations;
  if (values.help) {
    say(USAGE);
    return 0;
  }
  if (command === 'check' && location && locations.length === 1) {
    const { text, isRight } = await check(location, { footersOnly: values.footers, all: values.all });
    say(text);
    return isRight ? 0 : 1;
  }
  if (command === 'init' && location && locations.length === 1) {
    say(await init(location));
    return 0;
  }
  if (command === 'convert' && locations.length > 0 && values.to) {
    const { hourly, replace, open, table } = values;
    const timeUnit = timeUnitOf(values['time-unit']);
    const options = { inputs: locations, to: values.to, hourly, replace, open };
    await convert({ ...options, ...(table && { table }), ...(timeUnit && { timeUnit }) }, say);
    return 0;
  }
  throw new LakeFault(USAGE);
}

function timeUnitOf(text: string | undefined): TimeUnit | undefined {
  if (text === undefined || Object.hasOwn(TIME_UNITS, text)) return text as TimeUnit | undefined;
  throw new LakeFault(`--time-unit is ${text}; it can be ${Object.keys(TIME_UNITS).join(', ')}`);
}

import { parseArgs } from 'node:util';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import type { LakeCommand } from '../lake-command.ts';
import { TIME_UNITS } from '../values/time-units.ts';
import { valueOptions } from '../values/value-options.ts';
import { memoryBytes } from '../workspace/memory-size.ts';
import { convert } from './convert.ts';

const usage = `npm run lake -- convert <files, folders or s3://…> --to <folder | s3://bucket/prefix> [--hourly] [--replace] [--open]
                [--table <name>] [--time-zone <zone>] [--ambiguous earlier|later] [--time-unit <unit>] [--round]
                [--memory <size>] [--show-sql]
  Makes days of a lake from CSV or Parquet files, exactly or not at all.
  --hourly     sum each hour's records of equal dimensions
  --replace    write days again that have files already: they hold only the converted records then
  --open       mark no day as final; today never is
  --table      publisher_events or advertiser_events, where the columns don't tell
  --time-zone  the zone of times without an offset, for example Europe/Berlin; without it they are UTC
  --ambiguous  earlier or later: which instant is meant where clocks go back and a local time comes twice
  --time-unit  what numbers in event_time count since 1970: ${Object.keys(TIME_UNITS).join(', ')}
  --round      round amounts to six digits after the point, half away from zero, and tell by how much
  --memory     how much memory this may use, like 2GB; otherwise half of the machine's
  --show-sql   say the SQL that runs
`;

/** `npm run lake -- convert`. Turns the arguments into the options of `convert`. */
export const convertCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { values, positionals } = parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        to: { type: 'string' },
        hourly: { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        open: { type: 'boolean', default: false },
        table: { type: 'string' },
        'time-zone': { type: 'string' },
        ambiguous: { type: 'string' },
        'time-unit': { type: 'string' },
        round: { type: 'boolean', default: false },
        memory: { type: 'string' },
        'show-sql': { type: 'boolean', default: false },
      },
    });
    const { to, hourly, replace, open, table } = values;
    if (positionals.length === 0 || !to) throw new OperatorFault(usage);
    const memory = values.memory === undefined ? undefined : memoryBytes(values.memory);
    const options = { inputs: positionals, to, hourly, replace, open, showSql: values['show-sql'] };
    await convert(
      { ...options, ...(table && { table }), ...valueOptions(values), ...(memory && { memory }) },
      say,
    );
    return 0;
  },
};

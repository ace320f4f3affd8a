import type { Column } from '../../lib/report/tables.ts';

export const TIME_UNITS = {
  seconds: 1_000_000_000n,
  milliseconds: 1_000_000n,
  microseconds: 1_000n,
  nanoseconds: 1n,
};

export type TimeUnit = keyof typeof TIME_UNITS;

/** SQL that turns a file's value into the contract's, exactly, and SQL that is true where it can't be done. */
export interface ExactValue {
  readonly value: string;
  readonly isLost: string;
  /** What is wrong with a value that is lost, and what to do about it. */
  readonly loss: string;
}

/** A type that nothing can be made of, and what to do about it. */
export interface NoValue {
  readonly cure: string;
}

const isInteger = (type: string): boolean => /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type);

/**
 * How a value of a file becomes one of the contract's columns without losing a digit.
 *
 * @param source SQL for the value in the file
 * @param found DuckDB's name of its type
 */
export function exactValue(
  { type }: Column,
  source: string,
  found: string,
  timeUnit?: TimeUnit,
): ExactValue | NoValue {
  if (type === 'timestamp') return instant(source, found, timeUnit);
  if (type === 'bigint') return wholeNumber(source, found);
  if (type === 'varchar') return text(source, found);
  return amount(source, found);
}

const WITHIN_64_BITS = 'is no whole number within 64 bits. Correct it at the source';

function wholeNumber(x: string, found: string): ExactValue | NoValue {
  const cast = `TRY_CAST(${x} AS BIGINT)`;
  const loss = WITHIN_64_BITS;
  if (isInteger(found)) return { value: cast, isLost: `${x} IS NOT NULL AND ${cast} IS NULL`, loss };
  if (found.startsWith('DECIMAL'))
    return { value: cast, isLost: `${x} IS NOT NULL AND (${cast} IS NULL OR ${x} <> trunc(${x}))`, loss };
  if (found === 'DOUBLE' || found === 'FLOAT') {
    // Up to here a float holds every whole number.
    const exactUpTo = found === 'DOUBLE' ? 2n ** 53n - 1n : 2n ** 24n - 1n;
    return {
      // pandas writes NaN where it knows nothing.
      value: `CASE WHEN NOT isnan(${x}) THEN ${cast} END`,
      isLost: `${x} IS NOT NULL AND NOT isnan(${x}) AND (${x} <> trunc(${x}) OR abs(${x}) > ${exactUpTo})`,
      loss: `is no whole number that a float holds exactly (up to ${exactUpTo}). Write integers at the source`,
    };
  }
  if (found === 'VARCHAR') {
    const t = `trim(${x})`;
    const value = `TRY_CAST(regexp_replace(nullif(${t}, ''), '\\.0+$', '') AS BIGINT)`;
    const looksRight = `regexp_full_match(${t}, '[+-]?[0-9]+(\\.0+)?')`;
    return {
      value,
      isLost: `${x} IS NOT NULL AND ${t} <> '' AND (NOT ${looksRight} OR ${value} IS NULL)`,
      loss,
    };
  }
  return { cure: 'Write whole numbers.' };
}

const SIX_DECIMALS =
  'is no amount with at most 12 digits before and 6 after the point. Round it at the source';

function amount(x: string, found: string): ExactValue | NoValue {
  const cast = `TRY_CAST(${x} AS DECIMAL(18,6))`;
  const loss = SIX_DECIMALS;
  if (isInteger(found)) return { value: cast, isLost: `${x} IS NOT NULL AND ${cast} IS NULL`, loss };
  if (found.startsWith('DECIMAL'))
    return {
      value: cast,
      isLost: `${x} IS NOT NULL AND TRY_CAST(${cast} AS ${found}) IS DISTINCT FROM ${x}`,
      loss,
    };
  if (found === 'DOUBLE' || found === 'FLOAT') {
    // By way of the shortest text that names this float and no other: 0.1 and not 0.1000000000000000055….
    const shortest = `TRY_CAST(CAST(${x} AS VARCHAR) AS DECIMAL(18,6))`;
    const known = `${x} IS NOT NULL AND NOT isnan(${x})`;
    // From here on, floats lie farther apart than a millionth.
    const exactBelow = found === 'DOUBLE' ? 2 ** 33 : 2 ** 4;
    return {
      value: `CASE WHEN NOT isnan(${x}) THEN ${shortest} END`,
      isLost: `${known} AND (CAST(${shortest} AS ${found}) IS DISTINCT FROM ${x} OR abs(${x}) >= ${exactBelow})`,
      loss: `is no amount with at most 6 digits after the point that a float holds exactly (below ${exactBelow}). Round it at the source, or write decimals`,
    };
  }
  if (found === 'VARCHAR') {
    const t = `trim(${x})`;
    const value = `TRY_CAST(nullif(${t}, '') AS DECIMAL(18,6))`;
    const looksRight = `regexp_full_match(${t}, '[+-]?([0-9]+(\\.[0-9]{0,6}0*)?|\\.[0-9]{1,6}0*)')`;
    return {
      value,
      isLost: `${x} IS NOT NULL AND ${t} <> '' AND (NOT ${looksRight} OR ${value} IS NULL)`,
      loss,
    };
  }
  return { cure: 'Write decimals.' };
}

function text(x: string, found: string): ExactValue | NoValue {
  if (found === 'BLOB')
    return {
      value: `TRY(decode(${x}))`,
      isLost: `${x} IS NOT NULL AND TRY(decode(${x})) IS NULL`,
      loss: 'is no UTF-8. Write text at the source',
    };
  if (
    found === 'VARCHAR' ||
    found === 'UUID' ||
    found === 'BOOLEAN' ||
    found.startsWith('ENUM') ||
    isInteger(found)
  )
    return { value: `CAST(${x} AS VARCHAR)`, isLost: 'false', loss: '' };
  return { cure: 'Write text.' };
}

const TIME_TEXT =
  '[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?( ?(Z|UTC)|[+-][0-9]{2}(:?[0-9]{2})?)?)?';

/** Times are cut to the millisecond, so that they keep their hour and their day. */
function instant(x: string, found: string, unit?: TimeUnit): ExactValue | NoValue {
  const to = (value: string, loss: string): ExactValue => ({ value, isLost: `${value} IS NULL`, loss });
  const missing = 'is missing. Fill it in at the source; nobody else can know it';
  const cut = (time: string) => `CAST(date_trunc('millisecond', ${time}) AS TIMESTAMP_MS)`;
  if (found === 'TIMESTAMP' || found === 'DATE') return to(cut(`CAST(${x} AS TIMESTAMP)`), missing);
  if (found === 'TIMESTAMP WITH TIME ZONE') return to(cut(`(${x} AT TIME ZONE 'UTC')`), missing);
  if (found === 'TIMESTAMP_NS') return to(`make_timestamp_ms(epoch_ns(${x}) // 1000000)`, missing);
  if (found === 'VARCHAR') {
    const t = `trim(${x})`;
    // The session is in UTC, which a time without a zone is taken for.
    const parsed = `TRY_CAST(CASE WHEN regexp_full_match(${t}, '${TIME_TEXT}') THEN ${t} END AS TIMESTAMPTZ)`;
    return to(
      cut(`(${parsed} AT TIME ZONE 'UTC')`),
      'is no time like 2026-01-31 23:59:59.999, 2026-01-31T23:59:59Z or 2026-01-31T23:59:59+01:00. Write it so, or fill it in',
    );
  }
  if (isInteger(found))
    return unit
      ? to(
          `make_timestamp_ms(TRY_CAST(CAST(${x} AS HUGEINT) * ${TIME_UNITS[unit]} // 1000000 AS BIGINT))`,
          missing,
        )
      : {
          cure: 'Say what the number counts: --time-unit seconds, milliseconds, microseconds or nanoseconds.',
        };
  return { cure: 'Write timestamps.' };
}

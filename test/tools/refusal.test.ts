import { expect, it } from 'vitest';
import { refusal } from '../../tools/lake/convert/refusal.ts';

const linesOf = (faults: readonly string[]) => refusal(faults).message.split('\n');

it('a refusal shows three of many files with the same fault, even if counts and examples differ', () => {
  const parts = Array.from(
    { length: 1_000 },
    (_, index) =>
      `part-${index}: revenue: in ${index + 2} records, "${index}\\"," for example has separators. Mend it`,
  );
  expect(linesOf([...parts, 'part-1: clicks: in 1 record, "-1" is a count below 0'])).toEqual([
    'Nothing was written. 1,001 things stand against it:',
    ...parts.slice(0, 3).map((part) => `  ${part}`),
    '  and alike in 997 more files',
    '  part-1: clicks: in 1 record, "-1" is a count below 0',
  ]);
});

it('a refusal shows 50 of 60 different faults, and the number of the others', () => {
  const lines = linesOf(Array.from({ length: 60 }, (_, index) => `a.csv: column ${index}: is wrong`));
  expect(lines[0]).toMatch(/ 60 things stand against it:$/);
  expect(lines).toHaveLength(1 + 50 + 1);
  expect(lines.at(-1)).toBe('  and 10 lines more');
});

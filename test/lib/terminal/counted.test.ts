import { expect, it } from 'vitest';
import { counted } from '../../../lib/terminal/counted.ts';

it.each([
  [counted(0, 'day'), '0 days'],
  [counted(1, 'day'), '1 day'],
  [counted(999, 'row group'), '999 row groups'],
  [counted(1_000, 'record'), '1,000 records'],
  [counted(20_000_000, 'record'), '20,000,000 records'],
  [counted(1, 'company', 'companies'), '1 company'],
  [counted(2, 'company', 'companies'), '2 companies'],
])('counted groups digits, and chooses the singular or the plural: %s', (text, expected) => {
  expect(text).toBe(expected);
});

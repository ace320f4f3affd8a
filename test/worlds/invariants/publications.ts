/** Rule: a publication fails only if its result is not the engine's CSV, or if its result or its request is gone. */
import type { Parts } from '../parts.ts';
import { judge } from './judge.ts';

export function checkPublication({ world, athena, s3 }: Parts, id: string, error: unknown): void {
  const [, execution = ''] = /^\w+:([^.]+)/.exec(id) ?? [];
  const query = athena.queries.get(execution);
  const message = String(error);
  const isGone =
    (message.includes('is gone') && !s3.get(`athena/${execution}.csv`)) ||
    (message.includes('no publication') && !s3.get(`publications/${execution}.json`));
  judge(world, { 'publication-failed-without-cause': !query?.isJunk && !isGone }, () => `${id}: ${message}`);
}

/** `BENCH_RECORDS=1000000 BENCH_ROUNDS=1 npm run bench -- <part>` tries a part quickly, on fewer records and rounds. */
const atMost = (name: string) => Number(process.env[name] ?? Number.POSITIVE_INFINITY);

export const recordsAtMost = (records: number): number => Math.min(records, atMost('BENCH_RECORDS'));
export const roundsAtMost = (rounds: number): number => Math.min(rounds, atMost('BENCH_ROUNDS'));

/** Gives pseudo-random numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
export type Dice = () => number;

export function dice(seed: number): Dice {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A seed made of another seed and a name. Each part of a world draws from dice of its own name, so it keeps its numbers
 * when another part is left out.
 */
function seedOf(seed: number, name: string): number {
  let hash = seed ^ 0x811c9dc5;
  for (let index = 0; index < name.length; index++)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return hash ^ (hash >>> 16);
}

/** Dice for the part of a world with this name. */
export const namedDice = (seed: number, name: string): Dice => dice(seedOf(seed, name));

export const between = (draw: Dice, least: number, most: number): number => least + draw() * (most - least);

/** A whole number from `least` to `most`, both included. */
export const whole = (draw: Dice, least: number, most: number): number =>
  least + Math.floor(draw() * (most - least + 1));

export const chance = (draw: Dice, probability: number): boolean => draw() < probability;

/** Picks one of the values; a value listed twice is picked twice as often. */
export function pick<T>(draw: Dice, values: readonly T[]): T {
  const value = values[Math.floor(draw() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** How often each kind of fault occurs, relative to the other kinds. */
export const FAULT_SHARES = {
  throttled: 4,
  fails: 2,
  'connection breaks before': 1,
  'answer lost': 4,
  slow: 3,
  'never answered': 1,
  'never answered, but done': 1,
  'dies before a call': 1,
  'dies after a call': 1,
} as const;

export type FaultKind = keyof typeof FAULT_SHARES;
export const FAULT_KINDS = Object.keys(FAULT_SHARES) as FaultKind[];

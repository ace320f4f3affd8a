/** An amount in millionths. The amount is text with up to six digits after the point. */
export function millionths(amount: string): bigint {
  const [whole = '', digits = ''] = amount.split('.');
  return BigInt(whole + digits.padEnd(6, '0'));
}

/** A sum of millionths as an amount, with six digits after the point. */
export function asAmount(sum: bigint): string {
  const digits = String(sum < 0n ? -sum : sum).padStart(7, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

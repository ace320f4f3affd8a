/** What the operator has to change; the message says what and how. */
export class LakeFault extends Error {
  override readonly name = 'LakeFault';
}

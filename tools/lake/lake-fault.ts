/** What the operator has to change; the message says what and how. */
export class LakeFault extends Error {
  override readonly name: string = 'LakeFault';
}

/** Somebody else wrote in the lake: what was listed is no longer there. */
export class LakeChanged extends LakeFault {
  override readonly name = 'LakeChanged';
}

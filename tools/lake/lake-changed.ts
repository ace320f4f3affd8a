import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** Somebody else wrote in the lake: what was listed is no longer there. */
export class LakeChanged extends OperatorFault {
  override readonly name = 'LakeChanged';
}

import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** A fault of a command during which somebody else has changed the lake. */
export class LakeChanged extends OperatorFault {
  override readonly name = 'LakeChanged';
}

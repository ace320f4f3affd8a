import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** The fault if somebody else has changed the lake while a command was using it. */
export class LakeChanged extends OperatorFault {
  override readonly name = 'LakeChanged';
}

import type { ModelledRegister } from '../modelled-register.ts';
import type { Backends } from '../service.ts';
import type { World } from '../world.ts';

/** The parts of a world that a rule can look at. */
export interface Parts extends Backends {
  readonly world: World;
  readonly register: ModelledRegister;
}

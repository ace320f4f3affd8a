import type { ModelledRegister } from '../modelled-register.ts';
import type { Backends } from '../service.ts';
import type { World } from '../world.ts';

/** Everything that a rule looks at. */
export interface Parts extends Backends {
  readonly world: World;
  readonly register: ModelledRegister;
}

import type { ModelledRegister } from './modelled-register.ts';
import type { OperatorPlan } from './plan.ts';
import type { World } from './world.ts';

/** Makes one change to the register of partners. */
export async function operate(world: World, register: ModelledRegister, plan: OperatorPlan): Promise<void> {
  const { kind, partner, companies } = plan;
  await world.time.delay(plan.atMs);
  world.count(`operator ${kind}`);
  const was = register.entryOf(partner);
  switch (kind) {
    case 'changes companies':
      return register.set(partner, { isActive: true, companies });
    case 'deactivates':
      return register.set(partner, { isActive: false, companies: was?.companies ?? companies });
    case 'removes':
      return register.set(partner, undefined);
    case 'adds again': {
      register.set(partner, undefined);
      await world.time.delay(20_000);
      return register.set(partner, { isActive: true, companies: was?.companies ?? companies });
    }
  }
}

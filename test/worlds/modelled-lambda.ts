import { type Invocation, type Machine, running } from './invocation.ts';
import { between, namedDice } from './random.ts';
import type { World } from './world.ts';

type Outcome<T> =
  | { readonly state: 'answered'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'died'; readonly why: string };

export interface InvocationContext {
  readonly getRemainingTimeInMillis: () => number;
}

/** Models Lambda: execution environments with clocks of their own, time limits, and functions that may die. */
export interface ModelledLambda {
  invoke<T>(
    functionName: string,
    id: string,
    { limitMs, partner }: { readonly limitMs: number; readonly partner?: string },
    handle: (machine: Machine, context: InvocationContext) => Promise<T>,
  ): Promise<{ readonly outcome: Outcome<T>; readonly invocation: Invocation }>;
  /** Lets no machine that was made before serve a further request: the release that they run is replaced. */
  deploy(): void;
  /** How many invocations are under way. */
  readonly underWay: () => number;
}

/** The least and the most time in which a new environment starts. Assumed. */
const COLD_MS = [250, 700] as const;
/** How long a request takes to reach the handler in a warm environment. Assumed. */
const WARM_MS = 6;

type ResultOf<F> = F extends (...given: never[]) => Promise<infer T> ? T : never;

export const TIME_LIMIT = 'reaches its time limit';

export function modelledLambda(world: World): ModelledLambda {
  const { time, seed, plan } = world;
  const idle = new Map<string, Machine[]>();
  const made = new Map<string, number>();
  const retired = new Set<Machine>();
  const machines: Machine[] = [];
  let underWay = 0;

  /** When a machine's clock is to be set. It is set while the machine serves no request. */
  const sets = new Map<Machine, number>();
  const setClock = (machine: Machine): void => {
    const { set } = plan.clocks;
    if (!set || (sets.get(machine) ?? Number.POSITIVE_INFINITY) > time.now()) return;
    machine.skewMs += set.byMs;
    sets.delete(machine);
    world.count('clock is set');
    world.tell?.(machine.name, `its clock is set by ${set.byMs} ms`);
  };

  const machineOf = (functionName: string): { machine: Machine; isCold: boolean } => {
    const spare = idle.get(functionName)?.pop();
    if (spare) {
      setClock(spare);
      return { machine: spare, isCold: false };
    }
    const number = made.get(functionName) ?? 0;
    made.set(functionName, number + 1);
    const name = `${functionName}-${number}`;
    const draw = namedDice(seed, `machine ${name}`);
    const own = (draw() - 0.5) * 2 * plan.clocks.skewMs;
    const skewMs = plan.clocks.wrong?.machine === name ? plan.clocks.wrong.skewMs : own;
    const isOfReleaseBefore = draw() < 0.5 && plan.isMixed && world.deployedAt === undefined;
    const machine: Machine = { name, skewMs: Math.round(skewMs), isOfReleaseBefore };
    machines.push(machine);
    sets.set(
      machine,
      plan.clocks.set?.machine === name ? time.now() + plan.clocks.set.afterMs : Number.POSITIVE_INFINITY,
    );
    return { machine, isCold: true };
  };

  return {
    underWay: () => underWay,
    deploy() {
      world.deployedAt = time.now();
      for (const machine of machines) retired.add(machine);
      idle.clear();
    },
    invoke: (functionName, id, { limitMs, partner }, handle) =>
      new Promise((resolve) => {
        underWay += 1;
        const { machine, isCold } = machineOf(functionName);
        const portDice = namedDice(seed, `calls of ${id}`);
        const begin = () => {
          let isOver = false;
          const end = (outcome: Outcome<ResultOf<typeof handle>>) => {
            if (isOver) return;
            isOver = true;
            invocation.endedAt = time.now();
            underWay -= 1;
            limit.isOff = true;
            if (outcome.state === 'died') world.tell?.(id, outcome.why);
            else if (!retired.has(machine))
              idle.set(functionName, [...(idle.get(functionName) ?? []), machine]);
            // The async context of a dead function must not reach the code that awaits its outcome.
            resolve({ outcome, invocation });
          };
          const invocation: Invocation = {
            id,
            partner,
            machine,
            startedAt: time.now(),
            get skewMs() {
              return machine.skewMs;
            },
            random: namedDice(seed, `numbers of ${id}`),
            portDice,
            isDead: false,
            calls: 0,
            listings: 0,
            faults: [],
            written: new Map(),
            die: (why) => {
              invocation.isDead = true;
              world.count(`function ${why}`);
              end({ state: 'died', why });
            },
          };
          const limit = time.after(limitMs, () => invocation.die(TIME_LIMIT));
          const endsAt = time.now() + limitMs;
          const context = { getRemainingTimeInMillis: () => endsAt - time.now() };
          running.run(invocation, () => {
            handle(machine, context).then(
              (value) => !invocation.isDead && end({ state: 'answered', value }),
              (error: unknown) => !invocation.isDead && end({ state: 'failed', error }),
            );
          });
        };
        time.after(isCold ? between(portDice, ...COLD_MS) : WARM_MS, begin);
      }),
  };
}

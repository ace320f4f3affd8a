/** An object of which only these members may be used: the use of any other fails the test. */
export const only = <T extends object>(members: Partial<T>): T =>
  new Proxy(members, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name);
      throw new Error(`unplanned: ${String(name)}`);
    },
  }) as T;

/** One benchmark in a process of its own, so that none runs on what another has left in caches and compilers. */
const [name = ''] = process.argv.slice(2);
const { measure } = await import(`./${name}.ts`);
process.send?.(await measure());

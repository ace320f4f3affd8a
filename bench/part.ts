/** Runs one benchmark in a process of its own, so that caches and compilers are not warm from another benchmark. */
const [name = ''] = process.argv.slice(2);
const { measure } = await import(`./${name}.ts`);
process.send?.(await measure());

import type { Reporter, TestModule } from 'vitest/node';

/** Prints a line for each project at the end of a run: its tests, its files, and its seconds from first to last. */
export default class LineAProject implements Reporter {
  readonly #began = new Map<string, number>();
  readonly #ended = new Map<string, number>();

  onTestModuleStart({ project }: TestModule): void {
    if (!this.#began.has(project.name)) this.#began.set(project.name, performance.now());
  }

  onTestModuleEnd({ project }: TestModule): void {
    this.#ended.set(project.name, performance.now());
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const [name, began] of this.#began) {
      const files = modules.filter(({ project }) => project.name === name);
      const tests = files.flatMap(({ children }) => [...children.allTests()]);
      const failed = tests.filter((test) => test.result().state === 'failed').length;
      const seconds = Math.round(((this.#ended.get(name) ?? began) - began) / 1_000);
      process.stdout.write(
        `${name}: ${tests.length} tests in ${files.length} files, ${failed} failed, ${seconds} s\n`,
      );
    }
  }
}

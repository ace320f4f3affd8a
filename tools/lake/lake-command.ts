/** A command of `npm run lake`, such as `check`. */
export interface LakeCommand {
  /** The help text: how to call the command, and its options. */
  readonly usage: string;
  /**
   * Runs the command and resolves to its exit code. An OperatorFault is a message for the operator.
   *
   * @param parameters the arguments without the command's name
   */
  run(parameters: readonly string[], say: (text: string) => void): Promise<number>;
}

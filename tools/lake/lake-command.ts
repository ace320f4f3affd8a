/** One of the things that `npm run lake` does. */
export interface LakeCommand {
  /** How it is called and what its options are, as the help shows it. */
  readonly usage: string;
  /**
   * Runs the command. Resolves to the exit code; an OperatorFault is a message for the operator.
   *
   * @param parameters the arguments after the command's name
   */
  run(parameters: readonly string[], say: (text: string) => void): Promise<number>;
}

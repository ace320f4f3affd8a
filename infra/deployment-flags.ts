import { OperatorFault } from '../lib/terminal/operator-fault.ts';

/** What an operator says of one deployment, beside the stage. */
export interface DeploymentFlags {
  /**
   * The stage has no successful deployment yet. This one protects nothing from deletion, so that it can be repeated if
   * it fails (docs/deploy.md, "First deployment").
   */
  readonly isFirst: boolean;
  /** The new release gets all requests at once, whatever the stage says (docs/deploy.md, "Releases"). */
  readonly isAtOnce: boolean;
}

/** Reads `-c first=yes` and `-c shift=no`; throws an OperatorFault where one of them is given another value. */
export const readFlags = (context: (key: string) => unknown): DeploymentFlags => ({
  isFirst: isGiven(
    'first=yes',
    context('first'),
    'until a stage\'s first deployment has succeeded, and leave it out from then on (docs/deploy.md, "First deployment")',
  ),
  isAtOnce: isGiven(
    'shift=no',
    context('shift'),
    'for a deployment that takes all requests at once, and leave it out otherwise (docs/deploy.md, "Releases")',
  ),
});

function isGiven(flag: string, value: unknown, use: string): boolean {
  const [key, meant] = flag.split('=');
  if (value !== undefined && value !== meant)
    throw new OperatorFault(`\`-c ${key}=${value}\` means nothing. Say \`-c ${flag}\` ${use}.`);
  return value === meant;
}

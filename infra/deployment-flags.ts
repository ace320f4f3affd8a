import { OperatorFault } from '../lib/terminal/operator-fault.ts';

/** What an operator chooses for one deployment, in addition to the stage. */
export interface DeploymentFlags {
  /**
   * Whether the stage has no successful deployment yet. The deployment then protects nothing from deletion, so that it
   * can be repeated after a failure (docs/deploy.md, "First deployment").
   */
  readonly isFirst: boolean;
  /** Whether the new release passes the gate without a check (docs/deploy.md, "Releases"). */
  readonly isOpen: boolean;
}

/** Reads `-c first=yes` and `-c gate=open`. Throws an OperatorFault if either flag has another value. */
export const readFlags = (context: (key: string) => unknown): DeploymentFlags => ({
  isFirst: isGiven(
    'first=yes',
    context('first'),
    'until a stage\'s first deployment has succeeded, and leave it out from then on (docs/deploy.md, "First deployment")',
  ),
  isOpen: isGiven(
    'gate=open',
    context('gate'),
    'for a release that no check may stop, and leave it out otherwise (docs/deploy.md, "Releases")',
  ),
});

function isGiven(flag: string, value: unknown, use: string): boolean {
  const [key, meant] = flag.split('=');
  if (value !== undefined && value !== meant)
    throw new OperatorFault(`\`-c ${key}=${value}\` means nothing. Say \`-c ${flag}\` ${use}.`);
  return value === meant;
}

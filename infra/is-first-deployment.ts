import { SetupFault } from './setup-fault.ts';

/**
 * Whether the operator said `-c first=yes`. A first deployment protects nothing from deletion, so that one that fails can
 * be repeated (docs/deploy.md, "First deployment").
 */
export function isFirstDeployment(flag: unknown): boolean {
  if (flag === undefined) return false;
  if (flag === 'yes') return true;
  throw new SetupFault(
    `\`-c first=${flag}\` means nothing. Say \`-c first=yes\` until a stage's first deployment has succeeded, and leave it out ` +
      'from then on (docs/deploy.md, "First deployment").',
  );
}

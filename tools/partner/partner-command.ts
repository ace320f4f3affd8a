import { createInterface } from 'node:readline/promises';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { readStageOutputs } from '../stage-outputs.ts';
import { addPartner } from './add-partner.ts';
import { finishRotation, removePartner, rotateSecret, setPartner } from './change-partner.ts';
import { cognitoClients } from './cognito-clients.ts';
import type { CommandParts } from './command-parts.ts';
import { type Command, parseCommand } from './parse-command.ts';
import { registerBucket } from './register-bucket.ts';
import { listPartners, showPartner } from './show-partners.ts';

/** Runs one command line. The AWS SDK finds region, credentials and endpoints by itself. */
export async function partnerCommand(argv: readonly string[], say: CommandParts['say']): Promise<void> {
  const command = parseCommand(argv);
  const { stage } = command;
  if (stage === 'local')
    throw new OperatorFault(
      'The partners of this machine stand in a file: PARTNERS=<file> npm start (docs/local.md).',
    );
  const outputs = await readStageOutputs(stage);
  await run(command, {
    stage,
    outputs,
    register: registerBucket(outputs.partnersBucket),
    cognito: outputs.userPoolId === undefined ? undefined : cognitoClients(outputs.userPoolId, outputs.scope),
    say,
  });
}

function run(command: Command, parts: CommandParts): Promise<void> {
  switch (command.act) {
    case 'add':
      return addPartner(parts, command.partner);
    case 'list':
      return listPartners(parts);
    case 'show':
      return showPartner(parts, command.name);
    case 'set':
      return setPartner(parts, command.name, command.changes);
    case 'rotate':
      return rotateSecret(parts, command.name, command.isAgain);
    case 'finish':
      return finishRotation(parts, command.name);
    case 'remove':
      return removePartner(parts, command.name, async (loss) => {
        if (!command.isConfirmed) await askOperator(loss, command.name);
      });
  }
}

/** Asks at the terminal. Throws an OperatorFault unless the operator types the name, or if there is no terminal. */
async function askOperator(loss: string, name: string): Promise<void> {
  if (!process.stdin.isTTY) throw new OperatorFault(`${loss} Without a terminal, say so: --yes`);
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  if ((await terminal.question(`${loss}\nType its name: `)) !== name)
    throw new OperatorFault('Nothing is removed.');
}

/** `npm run partner -- <add|list|show|set|rotate|remove> <stage> <name> …`: the partners of a deployed stage. */
import { type Companies, EVERY_COMPANY, LONGEST_NAME, PARTNER_NAME } from '../lib/access/partner-record.ts';
import { byOwner, ownerNames } from '../lib/report/catalogue.ts';
import { fitIntoQuery, isCompanyId, LONGEST_COMPANIES } from '../lib/report/entitlement.ts';
import { counted } from '../lib/terminal/counted.ts';
import { OperatorFault, printable, reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { optionOf } from '../lib/terminal/owner-words.ts';
import { FLAG, parseOptions, TEXT } from './parse-options.ts';
import { addPartner } from './partner/add-partner.ts';
import { cognitoClients } from './partner/cognito-clients.ts';
import {
  type CommandParts,
  finishRotation,
  listPartners,
  type PartnerChanges,
  removePartner,
  rotateSecret,
  setPartner,
  showPartner,
} from './partner/known-partner.ts';
import { registerBucket } from './partner/register-bucket.ts';
import { readStageOutputs } from './stage-stacks.ts';

const USAGE = `npm run partner -- <command> <stage> [<name>] [options]
  add <stage> <name> --publisher-companies 1000,1001 --advertiser-companies 2000 --contact reports@partner.example
      one kind of companies is enough; ${EVERY_COMPANY} opens all of a kind; --client <id> takes a client that is there
  list <stage>
  show <stage> <name>
  set <stage> <name> with any of add's options, --active yes or --active no; companies "none" take them all away
  rotate <stage> <name>            a second secret; then --finish takes the old one away, --again replaces the new one
  remove <stage> <name>            asks first; --yes answers`;

const COMPANIES = ownerNames.map(optionOf);
const FACTS = { ...Object.fromEntries(COMPANIES.map((option) => [option, TEXT])), contact: TEXT };

/** The options of each command. */
const OPTIONS = {
  add: { ...FACTS, client: TEXT },
  list: {},
  show: {},
  set: { ...FACTS, active: TEXT },
  rotate: { finish: FLAG, again: FLAG },
  remove: { yes: FLAG },
} as const;

/** Runs one command line. The AWS SDK finds region, credentials and endpoints by itself. */
export async function partnerCommand(argv: readonly string[], tell: typeof say): Promise<void> {
  const { stage, run } = parseCommand(argv);
  if (stage === 'local')
    throw new OperatorFault(
      'The partners of this machine stand in a file: PARTNERS=<file> npm start (docs/local.md).',
    );
  const outputs = await readStageOutputs(stage);
  await run({
    stage,
    outputs,
    register: registerBucket(outputs.partnersBucket),
    cognito: outputs.userPoolId === undefined ? undefined : cognitoClients(outputs.userPoolId, outputs.scope),
    say: tell,
  });
}

/** What a command line asks for, and of which stage. */
interface Command {
  readonly stage: string;
  readonly run: (parts: CommandParts) => Promise<void>;
}

/** Reads a command line. Throws an OperatorFault, or parseArgs' own error, that says what is wrong with it. */
function parseCommand(argv: readonly string[]): Command {
  const [act = '', ...rest] = argv;
  if (!isAct(act)) {
    const known = Object.keys(OPTIONS).join(', ');
    throw new OperatorFault(act === '' ? USAGE : `There is no command "${act}", only ${known}.`);
  }
  const parsed = parseOptions(rest, OPTIONS[act]);
  const values = parsed.values as Values;
  const [stage, name, ...more] = parsed.positionals;
  if (stage === undefined) throw new OperatorFault(`Name a stage: npm run partner -- ${act} <stage>`);
  const expected = act === 'list' ? 1 : 2;
  if (parsed.positionals.length > expected)
    throw new OperatorFault(`"${act === 'list' ? name : more[0]}" is one word too many.`);
  if (act === 'list') return { stage, run: listPartners };

  if (name === undefined)
    throw new OperatorFault(`Name a partner: npm run partner -- ${act} ${stage} <name>`);
  if (!PARTNER_NAME.test(name) || name.length > LONGEST_NAME)
    throw new OperatorFault(
      `"${name}" is no name for a partner. Take lower case letters and digits, with single hyphens between, at most ${LONGEST_NAME}.`,
    );
  switch (act) {
    case 'show':
      return { stage, run: (parts) => showPartner(parts, name) };
    case 'remove':
      return { stage, run: (parts) => removePartner(parts, name, values['yes'] === true) };
    case 'rotate':
      if (values['finish'] && values['again']) throw new OperatorFault('Take --finish or --again, not both.');
      return values['finish']
        ? { stage, run: (parts) => finishRotation(parts, name) }
        : { stage, run: (parts) => rotateSecret(parts, name, values['again'] === true) };
    case 'set': {
      const changes = changesOf(values);
      if (Object.keys(changes).length === 0)
        throw new OperatorFault(`Say what to change: --${COMPANIES.join(', --')}, --contact or --active.`);
      return { stage, run: (parts) => setPartner(parts, name, changes) };
    }
    case 'add': {
      const { contact, ...changes } = changesOf(values);
      const companies = byOwner((owner) => changes[owner] ?? []);
      if (ownerNames.every((owner) => companies[owner].length === 0))
        throw new OperatorFault(`Say whose rows it sees: one or more of --${COMPANIES.join(', --')}.`);
      if (contact === undefined)
        throw new OperatorFault('Say whom to write to: --contact reports@partner.example');
      const client = values['client'];
      if (client !== undefined && !/^[\x21-\x7e]{1,256}$/.test(String(client)))
        throw new OperatorFault('--client is no client id: at most 256 printable characters without blanks.');
      const own = client !== undefined && { client: String(client) };
      return { stage, run: (parts) => addPartner(parts, { name, ...companies, contact, ...own }) };
    }
  }
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

const isAct = (text: string): text is keyof typeof OPTIONS => Object.hasOwn(OPTIONS, text);

function changesOf(values: Values): PartnerChanges {
  const text = (option: string) => values[option] as string | undefined;
  const contact = text('contact');
  const active = text('active');
  // A line break would forge a line of the list, and a change of the writing direction would hide a part of it.
  if (contact !== undefined && (printable(contact) !== contact || !/^.{1,256}$/u.test(contact)))
    throw new OperatorFault('--contact takes one line of at most 256 characters, without invisible ones.');
  if (active !== undefined && !['yes', 'no'].includes(active))
    throw new OperatorFault(`--active is "${active}". Say yes or no.`);
  return {
    ...Object.fromEntries(
      ownerNames.flatMap((owner) => {
        const given = text(optionOf(owner));
        return given === undefined ? [] : [[owner, companies(optionOf(owner), given)]];
      }),
    ),
    ...(contact !== undefined && { contact }),
    ...(active !== undefined && { active: active === 'yes' }),
  };
}

function companies(option: string, text: string): Companies {
  if (text === EVERY_COMPANY) return text;
  if (text === 'none') return [];
  const ids = text.split(',').map((id) => id.trim());
  const wrong = ids.find((id) => !isCompanyId(id));
  if (wrong !== undefined)
    throw new OperatorFault(
      `--${option}: "${wrong}" is no company id. Give ids in digits with commas between, or ${EVERY_COMPANY}.`,
    );
  // 007 and 7 are the same company.
  const different = [...new Set(ids.map((id) => String(BigInt(id))))];
  if (!fitIntoQuery(different))
    throw new OperatorFault(
      `--${option}: ${counted(different.length, 'company', 'companies')} are more than a query can name: their ids, with ", " ` +
        `between, may have ${LONGEST_COMPANIES} characters. Give ${EVERY_COMPANY}, or make two partners of this one.`,
    );
  return different;
}

if (import.meta.main) await reportingFaults(() => partnerCommand(process.argv.slice(2), say));

import { Command } from 'commander'
import { consoleRoles } from '@tollgate/schemas/console-roles'
import { keyScopes } from '@tollgate/schemas/key-scopes'
import {
  exportAuditCommand,
  verifyAuditCommand,
  type AuditVerifyOptions,
} from './audit-commands.ts'
import {
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  rotateKeyCommand,
  type KeyCreateOptions,
} from './key-commands.ts'
import { verifyLedgerCommand } from './ledger-commands.ts'
import type { CliParts } from './open-cli-parts.ts'
import {
  createProviderCommand,
  enableLiveCommand,
  listProvidersCommand,
  renameProviderCommand,
  type ProviderCreateOptions,
} from './provider-commands.ts'
import { rotateSecretsCommand } from './secret-commands.ts'
import {
  createUserCommand,
  linkUserCommand,
  listUsersCommand,
  removeUserCommand,
  type UserCreateOptions,
} from './user-commands.ts'

/** Runs the action with the parts it needs, which are opened only when a command was understood. */
export type WithParts = (run: (parts: CliParts) => Promise<void>) => Promise<void>

/** The operator's commands. */
export function createProgram(withParts: WithParts): Command {
  const program = new Command('tollgate').description(
    'Manage providers, their secret keys and the users of their console',
  )
  addProviderCommands(program.command('provider').description('Providers'), withParts)
  addKeyCommands(program.command('key').description('Secret keys'), withParts)
  addUserCommands(program.command('user').description('Users of the console'), withParts)
  program
    .command('secrets')
    .description('What providers entrust to us')
    .command('rotate')
    .description('Seal every secret anew with the newest key, so that older keys can go')
    .action(() => withParts(rotateSecretsCommand))
  addLedgerCommands(program.command('ledger').description('Credits'), withParts)
  addAuditCommands(program.command('audit').description('Who changed what'), withParts)
  return program
}

function addProviderCommands(provider: Command, withParts: WithParts): void {
  provider
    .command('create')
    .description('Make a provider')
    .requiredOption('--name <name>', 'name shown to people')
    .option('--email <email>', 'address of the owner')
    .option('--currency <code>', 'default currency (ISO 4217)', 'USD')
    .option('--environments <list>', 'sandbox, or sandbox,live', 'sandbox,live')
    .action((options: ProviderCreateOptions) =>
      withParts((parts) => createProviderCommand(parts, options)),
    )
  provider
    .command('rename')
    .description('Change the name that customers see in sandbox and live')
    .argument('<providerId>')
    .requiredOption('--name <name>', 'new name')
    .action((providerId: string, options: { name: string }) =>
      withParts((parts) => renameProviderCommand(parts, providerId, options)),
    )
  provider
    .command('enable-live')
    .description('Let the live keys in of a provider that was made for sandbox only')
    .argument('<providerId>')
    .action((providerId: string) => withParts((parts) => enableLiveCommand(parts, providerId)))
  provider
    .command('list')
    .description('List all providers')
    .action(() => withParts(listProvidersCommand))
}

function addKeyCommands(key: Command, withParts: WithParts): void {
  key
    .command('create')
    .description('Issue a secret key; it is shown once')
    .requiredOption('--provider <providerId>', 'whose key')
    .requiredOption('--environment <environment>', 'sandbox or live')
    .option('--name <name>', 'what the key is for')
    .option(
      '--scopes <list>',
      `what it may be used for: ${keyScopes.join(',')}`,
      keyScopes.join(','),
    )
    .option('--expires <date>', 'ISO date or date-time after which it is refused')
    .action((options: KeyCreateOptions) => withParts((parts) => createKeyCommand(parts, options)))
  key
    .command('rotate')
    .description('Issue a successor; the key itself stays valid for the overlap')
    .argument('<keyId>')
    .option('--overlap-hours <hours>', 'how long both keys work', '24')
    .action((keyId: string, options: { overlapHours: string }) =>
      withParts((parts) => rotateKeyCommand(parts, keyId, options)),
    )
  key
    .command('revoke')
    .description('Refuse the key from now on')
    .argument('<keyId>')
    .action((keyId: string) => withParts((parts) => revokeKeyCommand(parts, keyId)))
  key
    .command('list')
    .description("List a provider's keys")
    .requiredOption('--provider <providerId>', 'whose keys')
    .action((options: { provider: string }) =>
      withParts((parts) => listKeysCommand(parts, options)),
    )
}

function addLedgerCommands(ledger: Command, withParts: WithParts): void {
  ledger
    .command('verify')
    .description('Compare wallets, invoices and seals with what was posted')
    .action(() => withParts(verifyLedgerCommand))
}

function addUserCommands(user: Command, withParts: WithParts): void {
  type Options = { readonly provider: string }
  const ofProvider = ['--provider <providerId>', 'whose console'] as const
  user
    .command('create')
    .description('Let somebody into the console; prints a one-time link to set the password')
    .requiredOption(...ofProvider)
    .requiredOption('--email <email>', 'what the user signs in with')
    .option('--name <name>', 'name shown to people')
    .option('--role <role>', `what the user may do: ${consoleRoles.join(', ')}`, 'owner')
    .action((options: UserCreateOptions) => withParts((parts) => createUserCommand(parts, options)))
  user
    .command('link')
    .description('A new one-time link to set the password')
    .argument('<userId>')
    .requiredOption(...ofProvider)
    .action((userId: string, options: Options) =>
      withParts((parts) => linkUserCommand(parts, userId, options)),
    )
  user
    .command('remove')
    .description('Refuse the user from now on')
    .argument('<userId>')
    .requiredOption(...ofProvider)
    .action((userId: string, options: Options) =>
      withParts((parts) => removeUserCommand(parts, userId, options)),
    )
  user
    .command('list')
    .description('List the users of a console')
    .requiredOption(...ofProvider)
    .action((options: Options) => withParts((parts) => listUsersCommand(parts, options)))
}

function addAuditCommands(audit: Command, withParts: WithParts): void {
  audit
    .command('verify')
    .description('Find entries that were altered, removed or inserted after they were sealed')
    .option('--provider <providerId>', 'whose; without it everybody’s')
    .option('--head <sha256>', 'hash of a seal that was noted elsewhere and must still be there')
    .action((options: AuditVerifyOptions) =>
      withParts((parts) => verifyAuditCommand(parts, options)),
    )
  audit
    .command('export')
    .description('Print all entries and seals of a provider as lines of JSON')
    .requiredOption('--provider <providerId>', 'whose')
    .action((options: { provider: string }) =>
      withParts((parts) => exportAuditCommand(parts, options)),
    )
}

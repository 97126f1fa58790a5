import { Option, type Command } from 'commander'
import { consoleRoles } from '@tollgate/schemas/console-roles'
import { environments } from '@tollgate/schemas/environment'
import { keyScopes } from '@tollgate/schemas/key-scopes'
import type { AuditVerifyOptions } from './audit-commands.ts'
import type { KeyCreateOptions } from './key-commands.ts'
import type { CliParts } from './open-cli-parts.ts'
import type { ProviderCreateOptions } from './provider-commands.ts'
import type { UserCreateOptions } from './user-commands.ts'

/** Runs the action with the parts that it needs. The parts are opened only after the command line has been parsed. */
export type WithParts = (run: (parts: CliParts) => Promise<void>) => Promise<void>

/**
 * Adds the operator's commands to a command line. The code of a command is loaded when it runs, so that help and shell completion
 * respond without delay.
 */
export function addManagementCommands(program: Command, withParts: WithParts): void {
  program.commandsGroup('Providers and access:')
  addProviderCommands(program.command('provider').description('Providers'), withParts)
  addKeyCommands(program.command('key').description('Secret keys of the API'), withParts)
  addUserCommands(program.command('user').description('Users of the console'), withParts)
  program
    .command('secrets')
    .description('Encryption keys for provider secrets')
    .command('rotate')
    .description(
      'Encrypt every stored secret with the newest key, so that older keys can be removed',
    )
    .action(async () => {
      const { rotateSecretsCommand } = await import('./secret-commands.ts')
      await withParts(rotateSecretsCommand)
    })
  program
    .command('sign-ins')
    .description('Sign-ins of customers at MCP servers')
    .command('end-all')
    .description(
      'Sign every customer out of every client, and replace the keys that sign access tokens: after PostgreSQL was restored to an earlier moment',
    )
    .action(async () => {
      const { endSignInsCommand } = await import('./sign-in-commands.ts')
      await withParts(endSignInsCommand)
    })
  addAuditCommands(program.command('audit').description('Read the audit log'), withParts)
  program.commandsGroup('Money:')
  addLedgerCommands(program.command('ledger').description('Ledger of money and credits'), withParts)
}

const loadCommands = {
  audit: () => import('./audit-commands.ts'),
  key: () => import('./key-commands.ts'),
  ledger: () => import('./ledger-commands.ts'),
  provider: () => import('./provider-commands.ts'),
  user: () => import('./user-commands.ts'),
}

function addProviderCommands(provider: Command, withParts: WithParts): void {
  provider
    .command('create')
    .description('Create a provider')
    .requiredOption('--name <name>', 'Name that customers see')
    .option('--email <email>', "Owner's email address")
    .option('--currency <code>', 'Default currency (ISO 4217)', 'USD')
    .option('--environments <list>', 'sandbox, or sandbox,live', 'sandbox,live')
    .action(async (options: ProviderCreateOptions) => {
      const { createProviderCommand } = await loadCommands.provider()
      await withParts((parts) => createProviderCommand(parts, options))
    })
  provider
    .command('rename')
    .description('Change the name that customers see in sandbox and live')
    .argument('<providerId>')
    .requiredOption('--name <name>', 'New name')
    .action(async (providerId: string, options: { name: string }) => {
      const { renameProviderCommand } = await loadCommands.provider()
      await withParts((parts) => renameProviderCommand(parts, providerId, options))
    })
  provider
    .command('enable-live')
    .description('Accept live keys of a provider that was created for sandbox only')
    .argument('<providerId>')
    .action(async (providerId: string) => {
      const { enableLiveCommand } = await loadCommands.provider()
      await withParts((parts) => enableLiveCommand(parts, providerId))
    })
  provider
    .command('list')
    .description('List all providers')
    .action(async () => {
      const { listProvidersCommand } = await loadCommands.provider()
      await withParts(listProvidersCommand)
    })
}

function addKeyCommands(key: Command, withParts: WithParts): void {
  key
    .command('create')
    .description('Issue a secret key, which is shown once')
    .requiredOption('--provider <providerId>', 'Provider of the key')
    .addOption(
      new Option('--environment <environment>', 'Environment of the key')
        .choices(environments)
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'What the key is for')
    .option('--scopes <list>', `Permissions: ${keyScopes.join(',')}`, keyScopes.join(','))
    .option('--strict', 'Refuse requests with unknown fields and parameters', false)
    .option('--expires <date>', 'ISO 8601 date or date-time from which the key is refused')
    .action(async (options: KeyCreateOptions) => {
      const { createKeyCommand } = await loadCommands.key()
      await withParts((parts) => createKeyCommand(parts, options))
    })
  key
    .command('rotate')
    .description('Issue a successor; both keys work during the overlap')
    .argument('<keyId>')
    .option('--overlap-hours <hours>', 'How long both keys work, in hours', '24')
    .action(async (keyId: string, options: { overlapHours: string }) => {
      const { rotateKeyCommand } = await loadCommands.key()
      await withParts((parts) => rotateKeyCommand(parts, keyId, options))
    })
  key
    .command('revoke')
    .description('Refuse the key from now on')
    .argument('<keyId>')
    .action(async (keyId: string) => {
      const { revokeKeyCommand } = await loadCommands.key()
      await withParts((parts) => revokeKeyCommand(parts, keyId))
    })
  key
    .command('list')
    .description("List a provider's keys")
    .requiredOption('--provider <providerId>', 'Provider of the keys')
    .action(async (options: { provider: string }) => {
      const { listKeysCommand } = await loadCommands.key()
      await withParts((parts) => listKeysCommand(parts, options))
    })
}

function addLedgerCommands(ledger: Command, withParts: WithParts): void {
  ledger
    .command('verify')
    .description(
      'Compare wallets, invoices and seals with the posted entries; fails if any differs',
    )
    .action(async () => {
      const { verifyLedgerCommand } = await loadCommands.ledger()
      await withParts(verifyLedgerCommand)
    })
}

function addUserCommands(user: Command, withParts: WithParts): void {
  type Options = { readonly provider: string }
  const providerOption = ['--provider <providerId>', 'Provider of the console'] as const
  user
    .command('create')
    .description('Create a console user and print a one-time link to set the password')
    .requiredOption(...providerOption)
    .requiredOption('--email <email>', 'Email address with which the user signs in')
    .option('--name <name>', 'Name that other users see')
    .addOption(
      new Option('--role <role>', 'What the user may do').choices(consoleRoles).default('owner'),
    )
    .action(async (options: UserCreateOptions) => {
      const { createUserCommand } = await loadCommands.user()
      await withParts((parts) => createUserCommand(parts, options))
    })
  user
    .command('link')
    .description('Print a new one-time link to set the password')
    .argument('<userId>')
    .requiredOption(...providerOption)
    .action(async (userId: string, options: Options) => {
      const { linkUserCommand } = await loadCommands.user()
      await withParts((parts) => linkUserCommand(parts, userId, options))
    })
  user
    .command('remove')
    .description('Refuse the user from now on')
    .argument('<userId>')
    .requiredOption(...providerOption)
    .action(async (userId: string, options: Options) => {
      const { removeUserCommand } = await loadCommands.user()
      await withParts((parts) => removeUserCommand(parts, userId, options))
    })
  user
    .command('list')
    .description('List the users of a console')
    .requiredOption(...providerOption)
    .action(async (options: Options) => {
      const { listUsersCommand } = await loadCommands.user()
      await withParts((parts) => listUsersCommand(parts, options))
    })
}

function addAuditCommands(audit: Command, withParts: WithParts): void {
  audit
    .command('verify')
    .description('Find entries that were changed, removed or inserted after they were sealed')
    .option('--provider <providerId>', 'Only this provider; without it all providers')
    .option('--head <sha256>', 'Hash of a seal that you noted elsewhere and that must still exist')
    .action(async (options: AuditVerifyOptions) => {
      const { verifyAuditCommand } = await loadCommands.audit()
      await withParts((parts) => verifyAuditCommand(parts, options))
    })
  audit
    .command('export')
    .description('Print all entries and seals of a provider, one JSON object per line')
    .requiredOption('--provider <providerId>', 'Provider of the audit log')
    .action(async (options: { provider: string }) => {
      const { exportAuditCommand } = await loadCommands.audit()
      await withParts((parts) => exportAuditCommand(parts, options))
    })
}

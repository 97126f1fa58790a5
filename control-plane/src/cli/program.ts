import { Command } from 'commander'
import { keyScopes } from '@tollgate/schemas/key-scopes'
import {
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  rotateKeyCommand,
  type KeyCreateOptions,
} from './key-commands.ts'
import type { CliParts } from './open-cli-parts.ts'
import {
  createProviderCommand,
  listProvidersCommand,
  type ProviderCreateOptions,
} from './provider-commands.ts'

/** Runs the action with the parts it needs, which are opened only when a command was understood. */
export type WithParts = (run: (parts: CliParts) => Promise<void>) => Promise<void>

/** The operator's commands. */
export function createProgram(withParts: WithParts): Command {
  const program = new Command('tollgate').description('Manage providers and their secret keys')
  addProviderCommands(program.command('provider').description('Providers'), withParts)
  addKeyCommands(program.command('key').description('Secret keys'), withParts)
  return program
}

function addProviderCommands(provider: Command, withParts: WithParts): void {
  provider
    .command('create')
    .description('Make a provider, in both environments')
    .requiredOption('--name <name>', 'name shown to people')
    .option('--email <email>', 'address of the owner')
    .option('--currency <code>', 'default currency (ISO 4217)', 'USD')
    .action((options: ProviderCreateOptions) =>
      withParts((parts) => createProviderCommand(parts, options)),
    )
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

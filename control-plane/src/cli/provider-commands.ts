import { createProvider } from '@tollgate/domain/providers/create-provider'
import { listProviders } from '@tollgate/domain/providers/repository'
import { CliError } from './cli-error.ts'
import type { CliParts } from './open-cli-parts.ts'

export type ProviderCreateOptions = {
  readonly name: string
  readonly email?: string
  readonly currency: string
}

export async function createProviderCommand(
  parts: CliParts,
  options: ProviderCreateOptions,
): Promise<void> {
  const name = options.name.trim()
  if (name === '') throw new CliError('--name must not be empty')
  if (!/^[A-Za-z]{3}$/.test(options.currency)) {
    throw new CliError(`--currency ${options.currency} is not a three-letter ISO 4217 code`)
  }
  const fields = {
    name,
    email: options.email ?? null,
    defaultCurrency: options.currency.toUpperCase(),
    cycleMode: 'calendar',
  } as const
  const provider = await createProvider(parts.database, parts.hotState, fields, parts.now())
  parts.print(`provider ${provider.providerId}  ${provider.name}  ${provider.defaultCurrency}`)
}

export async function listProvidersCommand(parts: CliParts): Promise<void> {
  const providers = await listProviders(parts.database.control)
  if (providers.length === 0) parts.print('no providers yet')
  for (const { providerId, name, defaultCurrency, email } of providers) {
    parts.print([providerId, defaultCurrency, name, email ?? ''].join('  ').trimEnd())
  }
}

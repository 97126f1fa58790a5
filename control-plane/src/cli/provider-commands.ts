import { createProvider } from '@tollgate/domain/providers/create-provider'
import { enableLive } from '@tollgate/domain/providers/enable-live'
import { listProviders } from '@tollgate/domain/providers/repository'
import { CliError } from './cli-error.ts'
import type { CliParts } from './open-cli-parts.ts'

export type ProviderCreateOptions = {
  readonly name: string
  readonly email?: string
  readonly currency: string
  /** With a comma between them. */
  readonly environments: string
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
    isLive: parseIsLive(options.environments),
    email: options.email ?? null,
    defaultCurrency: options.currency.toUpperCase(),
    cycleMode: 'calendar',
  } as const
  const provider = await createProvider(
    parts.database,
    parts.hotState,
    parts.actorOf('provider create'),
    fields,
    parts.now(),
  )
  parts.print(`provider ${provider.providerId}  ${provider.name}  ${provider.defaultCurrency}`)
}

function parseIsLive(environments: string): boolean {
  const names = environments.split(',').map((name) => name.trim())
  const isKnown = names.every((name) => name === 'sandbox' || name === 'live')
  if (!isKnown || !names.includes('sandbox')) {
    throw new CliError('--environments must be sandbox, or sandbox,live')
  }
  return names.includes('live')
}

export async function enableLiveCommand(parts: CliParts, providerId: string): Promise<void> {
  const isThere = await enableLive(
    parts.database,
    parts.hotState,
    parts.actorOf('provider enable-live'),
    providerId,
  )
  if (!isThere) throw new CliError(`there is no provider ${providerId}`)
  parts.print(`provider ${providerId} is live`)
}

export async function listProvidersCommand(parts: CliParts): Promise<void> {
  const providers = await listProviders(parts.database.control)
  if (providers.length === 0) parts.print('no providers yet')
  for (const { providerId, name, defaultCurrency, email, isLive } of providers) {
    const state = isLive ? [] : ['sandbox only']
    parts.print([providerId, defaultCurrency, name, ...state, email ?? ''].join('  ').trimEnd())
  }
}

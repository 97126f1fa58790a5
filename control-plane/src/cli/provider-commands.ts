import { createProvider } from '@tollgate/domain/providers/create-provider'
import { enableLive } from '@tollgate/domain/providers/enable-live'
import { renameProvider } from '@tollgate/domain/providers/rename-provider'
import { listProviders } from '@tollgate/domain/providers/repository'
import { isStorableText } from '@tollgate/schemas/json-object'
import { nameCharsMax } from '@tollgate/schemas/limits'
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
  const name = requireName(options.name)
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

export async function renameProviderCommand(
  parts: CliParts,
  providerId: string,
  options: { readonly name: string },
): Promise<void> {
  const name = requireName(options.name)
  const actor = parts.actorOf('provider rename')
  const isThere = await renameProvider(parts.database, actor, providerId, name, parts.now())
  if (!isThere) throw new CliError(`there is no provider ${providerId}`)
  parts.print(`provider ${providerId}  ${name}`)
}

function requireName(text: string): string {
  const name = text.trim()
  if (name === '') throw new CliError('--name must not be empty')
  if (name.length > nameCharsMax || !isStorableText(name)) {
    throw new CliError(`--name must be at most ${nameCharsMax} characters of well-formed text`)
  }
  return name
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

import { createProvider } from '@tollgate/domain/providers/create-provider'
import { enableLive } from '@tollgate/domain/providers/enable-live'
import { renameProvider } from '@tollgate/domain/providers/rename-provider'
import { listProviders, type Provider } from '@tollgate/domain/providers/repository'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { formatTable } from '@tollgate/platform/terminal/table'
import { emailText } from '@tollgate/schemas/http/fields'
import { isStorableText } from '@tollgate/schemas/json-object'
import { nameCharsMax } from '@tollgate/schemas/limits'
import type { CliParts } from './open-cli-parts.ts'

export type ProviderCreateOptions = {
  readonly name: string
  readonly email?: string
  readonly currency: string
  /** Environments, separated by a comma. */
  readonly environments: string
}

export async function createProviderCommand(
  parts: CliParts,
  options: ProviderCreateOptions,
): Promise<void> {
  const name = requireName(options.name)
  if (!/^[A-Za-z]{3}$/.test(options.currency)) {
    throw new CliError(
      `--currency ${options.currency} is not a three-letter ISO 4217 code. Use for example EUR.`,
    )
  }
  if (options.email !== undefined) requireEmail(options.email)
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
  const { providerId, defaultCurrency } = provider
  parts.output.show({
    json: providerToJson({ ...fields, providerId }),
    text: [
      `Created provider ${providerId} (${name}, ${defaultCurrency}).`,
      `Issue a key: tollgate key create --provider ${providerId} --environment sandbox`,
    ],
    quiet: [providerId],
  })
}

function parseIsLive(environments: string): boolean {
  const names = environments.split(',').map((name) => name.trim())
  const isKnown = names.every((name) => name === 'sandbox' || name === 'live')
  if (!isKnown || !names.includes('sandbox')) {
    throw new CliError('--environments must be sandbox, or sandbox,live.')
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
  const isFound = await renameProvider(parts.database, actor, providerId, name, parts.now())
  if (!isFound) throw providerNotFound(providerId)
  parts.output.show({
    json: { providerId, name },
    text: [`Renamed provider ${providerId} to ${name}.`],
  })
}

export function providerNotFound(providerId: string): CliError {
  return new CliError(`There is no provider ${providerId}. See: tollgate provider list`)
}

export function requireEmail(email: string): void {
  if (emailText.safeParse(email).success) return
  throw new CliError(`--email ${email} is not an email address. Use for example ada@example.com.`)
}

function requireName(text: string): string {
  const name = text.trim()
  if (name === '') throw new CliError('--name is empty. Give the name that customers see.')
  if (name.length > nameCharsMax || !isStorableText(name)) {
    throw new CliError(`--name is not text of at most ${nameCharsMax} characters. Shorten it.`)
  }
  return name
}

export async function enableLiveCommand(parts: CliParts, providerId: string): Promise<void> {
  const isFound = await enableLive(
    parts.database,
    parts.hotState,
    parts.actorOf('provider enable-live'),
    providerId,
  )
  if (!isFound) throw providerNotFound(providerId)
  parts.output.show({
    json: { providerId, isLive: true },
    text: [`Provider ${providerId} accepts live keys.`],
  })
}

export async function listProvidersCommand(parts: CliParts): Promise<void> {
  const providers = await listProviders(parts.database.control)
  const rows = providers.map(({ providerId, name, defaultCurrency, email, isLive }) => [
    providerId,
    name,
    defaultCurrency,
    isLive ? 'sandbox,live' : 'sandbox',
    email ?? '',
  ])
  const isEmpty = providers.length === 0
  parts.output.show({
    json: providers.map(providerToJson),
    text: isEmpty
      ? ['No providers yet. Create one: tollgate provider create --name <name>']
      : [formatTable(['ID', 'NAME', 'CURRENCY', 'ENVIRONMENTS', 'EMAIL'], rows)],
    quiet: providers.map(({ providerId }) => providerId),
  })
}

function providerToJson({
  providerId,
  name,
  defaultCurrency,
  email,
  isLive,
}: Pick<Provider, 'providerId' | 'name' | 'defaultCurrency' | 'email' | 'isLive'>) {
  return { providerId, name, defaultCurrency, email, isLive }
}

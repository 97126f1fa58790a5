import { issueApiKey, type IssuedApiKey } from '@tollgate/domain/api-keys/issue-api-key'
import { findApiKeys, listApiKeys, type ApiKey } from '@tollgate/domain/api-keys/repository'
import { revokeApiKey, rotateApiKey } from '@tollgate/domain/api-keys/retire-api-key'
import { findProvider } from '@tollgate/domain/providers/repository'
import { hasAllScopes, keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import { environments } from '@tollgate/schemas/environment'
import { CliError } from './cli-error.ts'
import type { CliParts } from './open-cli-parts.ts'

export type KeyCreateOptions = {
  readonly provider: string
  readonly environment: string
  readonly name?: string
  readonly expires?: string
  /** With commas between them. */
  readonly scopes: string
  readonly strict: boolean
}

export async function createKeyCommand(parts: CliParts, options: KeyCreateOptions): Promise<void> {
  const environment = environments.find((each) => each === options.environment)
  if (environment === undefined) {
    throw new CliError(`--environment must be one of ${environments.join(', ')}`)
  }
  const scopes = parseScopes(options.scopes)
  const expiresAt = options.expires === undefined ? null : parseExpiry(options.expires, parts.now())
  await requireProvider(parts, options.provider)
  const issued = await issueApiKey(
    parts.database,
    parts.hotState,
    parts.actorOf('key create'),
    {
      ...{ providerId: options.provider, environment, name: options.name ?? null },
      ...{ scopes, expiresAt, isStrict: options.strict },
    },
    parts.now(),
  )
  printIssued(parts, issued)
}

export async function rotateKeyCommand(
  parts: CliParts,
  keyId: string,
  options: { readonly overlapHours: string },
): Promise<void> {
  const hours = Number(options.overlapHours)
  if (!(hours >= 0 && hours <= overlapHoursMax)) {
    throw new CliError(`--overlap-hours must be a number from 0 to ${overlapHoursMax}`)
  }
  const overlapMs = Math.round(hours * 3_600_000)
  const { database, hotState } = parts
  const key = await requireKey(parts, keyId)
  const outcome = await rotateApiKey(
    database,
    hotState,
    parts.actorOf('key rotate'),
    key,
    { overlapMs, latestExpiry: null },
    parts.now(),
  )
  switch (outcome.kind) {
    case 'not-found':
      throw new CliError(`there is no key ${keyId}`)
    case 'already-revoked':
      throw new CliError(`key ${keyId} is revoked: create a new one`)
    case 'expired':
      throw new CliError(`key ${keyId} has expired: create a new one`)
    case 'rotated':
      parts.print(`key ${keyId} works until ${outcome.oldExpiresAt.toISOString()}`)
      printIssued(parts, outcome.successor)
  }
}

export async function revokeKeyCommand(parts: CliParts, keyId: string): Promise<void> {
  const key = await requireKey(parts, keyId)
  const outcome = await revokeApiKey(
    parts.database,
    parts.hotState,
    parts.actorOf('key revoke'),
    key,
    parts.now(),
  )
  if (outcome.kind === 'not-found') throw new CliError(`there is no key ${keyId}`)
  parts.print(`key ${keyId} is revoked`)
}

export async function listKeysCommand(
  parts: CliParts,
  options: { readonly provider: string },
): Promise<void> {
  await requireProvider(parts, options.provider)
  const keys = await listApiKeys(parts.database.control, options.provider)
  if (keys.length === 0) parts.print('no keys yet')
  for (const key of keys) parts.print(describe(key, parts.now()))
}

/** A year covers every overlap that is still a rotation. */
const overlapHoursMax = 24 * 366

async function requireKey(parts: CliParts, keyId: string): Promise<ApiKey> {
  const [key] = await findApiKeys(parts.database.control, [keyId])
  if (key === undefined) throw new CliError(`there is no key ${keyId}`)
  return key
}

async function requireProvider(parts: CliParts, providerId: string): Promise<void> {
  const provider = await findProvider(parts.database.control, providerId)
  if (provider === undefined) throw new CliError(`there is no provider ${providerId}`)
}

function parseScopes(list: string): KeyScope[] {
  const names = list.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !keyScopes.some((scope) => scope === name))
  if (unknown !== undefined) {
    throw new CliError(`--scopes ${unknown} is none of ${keyScopes.join(', ')}`)
  }
  return keyScopes.filter((scope) => names.includes(scope))
}

function parseExpiry(text: string, now: Date): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new CliError(`--expires ${text} is not a date`)
  if (at.getTime() <= now.getTime()) throw new CliError(`--expires ${text} is in the past`)
  return at
}

function printIssued(parts: CliParts, { key, secretKey }: IssuedApiKey): void {
  parts.print(describe(key, parts.now()))
  parts.print(secretKey)
  parts.print('This is the only time the secret is shown.')
}

function describe(key: ApiKey, now: Date): string {
  const state = stateOf(key, now)
  const scopes = hasAllScopes(key.scopes) ? [] : [key.scopes.join(',')]
  const { keyId, environment, last4, name } = key
  const strict = key.isStrict ? ['strict'] : []
  return [keyId, environment, `...${last4}`, state, ...scopes, ...strict, name ?? '']
    .join('  ')
    .trimEnd()
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: Date): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`
  if (expiresAt === null) return 'active'
  const word = expiresAt.getTime() <= now.getTime() ? 'expired' : 'active until'
  return `${word} ${expiresAt.toISOString()}`
}

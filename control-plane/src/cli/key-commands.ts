import { issueApiKey, type IssuedApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { findApiKeys, listApiKeys, type ApiKey } from '@tollgate/domain/api-keys/repository'
import { revokeApiKey, rotateApiKey } from '@tollgate/domain/publishing/retire-api-key'
import { findProvider } from '@tollgate/domain/providers/repository'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { formatTable } from '@tollgate/platform/terminal/table'
import { hasAllScopes, keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import { environmentNamed, environments } from '@tollgate/schemas/environment'
import type { CliParts } from './open-cli-parts.ts'
import { providerNotFound } from './provider-commands.ts'

export type KeyCreateOptions = {
  readonly provider: string
  readonly environment: string
  readonly name?: string
  readonly expires?: string
  /** Scopes, separated by commas. */
  readonly scopes: string
  readonly strict: boolean
}

export async function createKeyCommand(parts: CliParts, options: KeyCreateOptions): Promise<void> {
  const environment = environmentNamed(options.environment)
  if (environment === undefined) {
    throw new CliError(`--environment must be one of ${environments.join(', ')}.`)
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
  showIssued(parts, issued, undefined)
}

export async function rotateKeyCommand(
  parts: CliParts,
  keyId: string,
  options: { readonly overlapHours: string },
): Promise<void> {
  const hours = Number(options.overlapHours)
  if (!(hours >= 0 && hours <= overlapHoursMax)) {
    throw new CliError(`--overlap-hours must be a number from 0 to ${overlapHoursMax}.`)
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
      throw keyNotFound(keyId)
    case 'already-revoked':
      throw new CliError(`Key ${keyId} is revoked. Create a new one: tollgate key create`)
    case 'expired':
      throw new CliError(`Key ${keyId} has expired. Create a new one: tollgate key create`)
    case 'rotated':
      showIssued(parts, outcome.successor, { keyId, expiresAt: outcome.oldExpiresAt })
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
  if (outcome.kind === 'not-found') throw keyNotFound(keyId)
  parts.output.show({ json: { keyId, state: 'revoked' }, text: [`Revoked key ${keyId}.`] })
}

export async function listKeysCommand(
  parts: CliParts,
  options: { readonly provider: string },
): Promise<void> {
  await requireProvider(parts, options.provider)
  const keys = await listApiKeys(parts.database.control, options.provider)
  const rows = keys.map((key) => keyToRow(key, parts.now()))
  parts.output.show({
    json: keys.map((key) => keyToJson(key, parts.now())),
    text:
      keys.length === 0
        ? ['No keys yet. Issue one: tollgate key create']
        : [formatTable(['ID', 'ENVIRONMENT', 'KEY', 'STATE', 'SCOPES', 'STRICT', 'NAME'], rows)],
    quiet: keys.map(({ keyId }) => keyId),
  })
}

/** One year covers every overlap that still is a rotation. */
const overlapHoursMax = 24 * 366

async function requireKey(parts: CliParts, keyId: string): Promise<ApiKey> {
  const [key] = await findApiKeys(parts.database.control, [keyId])
  if (key === undefined) throw keyNotFound(keyId)
  return key
}

async function requireProvider(parts: CliParts, providerId: string): Promise<void> {
  const provider = await findProvider(parts.database.control, providerId)
  if (provider === undefined) throw providerNotFound(providerId)
}

function parseScopes(list: string): KeyScope[] {
  const names = list.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !keyScopes.some((scope) => scope === name))
  if (unknown !== undefined) {
    throw new CliError(`--scopes ${unknown} is not one of ${keyScopes.join(', ')}.`)
  }
  return keyScopes.filter((scope) => names.includes(scope))
}

function parseExpiry(text: string, now: Date): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new CliError(`--expires ${text} is not a date. Use ISO 8601, for example 2027-01-31.`)
  if (time.getTime() <= now.getTime())
    throw new CliError(`--expires ${text} is in the past. Use a time in the future.`)
  return time
}

function keyNotFound(keyId: string): CliError {
  return new CliError(`There is no key ${keyId}. See: tollgate key list --provider <providerId>`)
}

function showIssued(
  { output, now }: CliParts,
  { key, secretKey }: IssuedApiKey,
  predecessor: { readonly keyId: string; readonly expiresAt: Date } | undefined,
): void {
  const { keyId, environment } = key
  const until = predecessor && { ...predecessor, expiresAt: predecessor.expiresAt.toISOString() }
  output.show({
    json: { ...keyToJson(key, now()), secretKey, ...(until && { predecessor: until }) },
    text: [
      `Created key ${keyId} (${environment}). Store the secret now: it is not shown again.`,
      secretKey,
      ...(until ? [`Key ${until.keyId} works until ${until.expiresAt}.`] : []),
    ],
    quiet: [secretKey],
  })
}

/** Returns the JSON shape of a key. The shape never contains the secret, because only its hash is stored. */
function keyToJson(key: ApiKey, now: Date) {
  const { keyId, providerId, environment, name, last4, scopes, isStrict } = key
  const { expiresAt, revokedAt } = key
  return {
    keyId,
    providerId,
    environment,
    name,
    last4,
    scopes,
    isStrict,
    state: keyState(key, now),
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  }
}

function keyToRow(key: ApiKey, now: Date): string[] {
  const { keyId, environment, last4, name, scopes, expiresAt, revokedAt } = key
  const state = keyState(key, now)
  const time = revokedAt ?? expiresAt
  const timeText =
    time === null ? '' : ` ${state === 'active' ? 'until ' : ''}${time.toISOString()}`
  const shownScopes = hasAllScopes(scopes) ? 'all' : scopes.join(',')
  const strict = key.isStrict ? 'yes' : ''
  return [keyId, environment, `...${last4}`, `${state}${timeText}`, shownScopes, strict, name ?? '']
}

function keyState({ revokedAt, expiresAt }: ApiKey, now: Date): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt.getTime() <= now.getTime() ? 'expired' : 'active'
}

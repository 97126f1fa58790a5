import { digestOfParts } from '@tollgate/domain/customer-auth/digest'
import {
  findRecord,
  recordPayloadPlace,
  saveRecord,
} from '@tollgate/domain/customer-auth/oauth-records'
import type { Queryable } from '@tollgate/platform/database/database'
import type { ClientCredentials } from './client-credentials.ts'
import type { Issuer } from './issuers.ts'
import type { AuthResponse } from './run-provider.ts'
import { AlreadyUsedError, commitTogether, type EarlierRecord } from './commit-together.ts'

/*
 * Several processes of one client may refresh with the same token at once, and responses may get lost. The library would treat the
 * second request as use of a stolen token and end the grant. Therefore a second, identical request of the same client gets the
 * response of the first one, for a short time. After that time, the same token ends the grant.
 */

const graceMs = 60_000

const model = 'RefreshAnswer'

type StoredRefresh = {
  /** Digest of the credentials and parameters. A request with a different digest does not get the stored response. */
  readonly request: string
  readonly answer: AuthResponse
}

/**
 * Runs a refresh once. The response and its tokens are committed in one transaction, so a crash leaves either both or neither.
 *
 * The token is read before the stored response is looked for, and the library works with the token as read. If it read the token
 * itself, another request could use it in between, and the library would end the grant.
 */
export async function refreshOnce(
  issuer: Issuer,
  { clientId, secret }: ClientCredentials,
  form: URLSearchParams,
  refresh: () => Promise<AuthResponse>,
): Promise<AuthResponse> {
  const { rows, place, now } = issuer.store
  const token = { model: 'RefreshToken', id: form.get('refresh_token') ?? '' }
  const id = digestOfParts(clientId, token.id)
  const terms = ['resource', 'scope'].map((name) => form.getAll(name).join(' '))
  const request = digestOfParts(clientId, secret ?? '', ...terms)
  const refreshAndStore = (earlier?: EarlierRecord) => {
    const save = (answer: AuthResponse) => {
      const record = recordOf(issuer, id, { request, answer })
      return (sql: Queryable) => saveRecord(sql, place, record, now())
    }
    return commitTogether(rows, refresh, save, earlier)
  }
  const record = await rows.read((sql) => findRecord(sql, place, token, now()))
  const stored = await find(issuer, id)
  if (stored?.request === request) return stored.answer
  try {
    return await refreshAndStore({ ...token, record })
  } catch (error) {
    if (!(error instanceof AlreadyUsedError)) throw error
    const first = await find(issuer, id)
    return first?.request === request ? first.answer : refreshAndStore()
  }
}

function recordOf({ store }: Issuer, id: string, stored: StoredRefresh) {
  const { place, secrets, now } = store
  return {
    model,
    id,
    sealedPayload: secrets.seal(JSON.stringify(stored), recordPayloadPlace(place.providerId)),
    grantId: undefined,
    uid: undefined,
    clientId: undefined,
    customerRef: undefined,
    expiresAt: new Date(now().getTime() + graceMs),
  }
}

async function find({ store }: Issuer, id: string): Promise<StoredRefresh | undefined> {
  const { rows, place, secrets, now } = store
  const found = await rows.read((sql) => findRecord(sql, place, { model, id }, now()))
  if (found === undefined) return undefined
  const text = secrets.open(found.sealedPayload, recordPayloadPlace(place.providerId))
  return JSON.parse(text) as StoredRefresh
}

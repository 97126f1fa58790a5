import { setTimeout as sleep } from 'node:timers/promises'
import { digestOfParts } from '@tollgate/domain/customer-auth/digest'
import {
  claimRecord,
  findRecord,
  recordPayloadPlace,
  removeRecord,
  saveRecord,
} from '@tollgate/domain/customer-auth/oauth-records'
import { errorAnswer } from './answers.ts'
import type { GivenClient } from './client-credentials.ts'
import type { Issuer } from './issuers.ts'
import type { AuthAnswer } from './run-provider.ts'

/*
 * Several processes of one client refresh with the same token at once. The library would take the second request for a stolen
 * token and end the grant, so the second request gets the answer of the first one: for a short time, and only if it is the
 * same request of the same client. Later, the same token ends the grant.
 */

const graceMs = 60_000
const waitMs = 5_000
const lookEveryMs = 50

const model = 'RefreshAnswer'

type Kept = {
  /** Digest of the credentials and parameters. A request with other ones does not get the stored answer. */
  readonly request: string
  /** Null while it is being made. */
  readonly answer: AuthAnswer | null
}

export async function refreshOnce(
  issuer: Issuer,
  { clientId, secret }: GivenClient,
  form: URLSearchParams,
  refresh: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  const id = digestOfParts(clientId, form.get('refresh_token') ?? '')
  const terms = ['resource', 'scope'].map((name) => form.getAll(name).join(' '))
  const request = digestOfParts(clientId, secret ?? '', ...terms)
  const isFirst = await claim(issuer, id, request)
  if (isFirst) return refreshFirst(issuer, id, request, refresh)
  for (let waitedMs = 0; waitedMs < waitMs; waitedMs += lookEveryMs) {
    const kept = await find(issuer, id)
    // The first request failed, so this one is a first request as well. Or it is another request.
    if (kept === undefined || kept.request !== request) return refresh()
    if (kept.answer !== null) return kept.answer
    await sleep(lookEveryMs)
  }
  return errorAnswer(503, 'temporarily_unavailable', 'Another refresh is under way. Try again.')
}

async function refreshFirst(
  issuer: Issuer,
  id: string,
  request: string,
  refresh: () => Promise<AuthAnswer>,
): Promise<AuthAnswer> {
  try {
    const answer = await refresh()
    if (answer.status === 200) await keep(issuer, id, { request, answer })
    else await forget(issuer, id)
    return answer
  } catch (error) {
    await forget(issuer, id)
    throw error
  }
}

function sealed({ store }: Issuer, kept: Kept): string {
  return store.secrets.seal(JSON.stringify(kept), recordPayloadPlace(store.place.providerId))
}

function claim(issuer: Issuer, id: string, request: string): Promise<boolean> {
  const { rows, place, now } = issuer.store
  const record = {
    model,
    id,
    sealedPayload: sealed(issuer, { request, answer: null }),
    expiresAt: new Date(now().getTime() + graceMs),
  }
  return rows.write((sql) => claimRecord(sql, place, record, now()))
}

async function find({ store }: Issuer, id: string): Promise<Kept | undefined> {
  const { rows, place, secrets, now } = store
  const found = await rows.read((sql) => findRecord(sql, place, { model, id }, now()))
  if (found === undefined) return undefined
  const text = secrets.open(found.sealedPayload, recordPayloadPlace(place.providerId))
  return JSON.parse(text) as Kept
}

async function keep(issuer: Issuer, id: string, kept: Kept): Promise<void> {
  const { rows, place, now } = issuer.store
  const record = {
    model,
    id,
    sealedPayload: sealed(issuer, kept),
    grantId: undefined,
    uid: undefined,
    clientId: undefined,
    customerRef: undefined,
    expiresAt: new Date(now().getTime() + graceMs),
  }
  await rows.write((sql) => saveRecord(sql, place, record, now()))
}

async function forget({ store }: Issuer, id: string): Promise<void> {
  const { rows, place } = store
  await rows.write((sql) => removeRecord(sql, place, { model, id }))
}

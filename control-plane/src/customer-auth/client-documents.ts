import {
  findRecord,
  recordPayloadPlace,
  saveRecord,
} from '@tollgate/domain/customer-auth/oauth-records'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'
import { normalizeClient, type ClientMetadata } from './client-metadata.ts'
import type { RecordStore } from './record-adapter.ts'
import type { RedirectPolicy } from './redirect-policy.ts'

type DocumentParts = {
  readonly store: RecordStore
  readonly policy: RedirectPolicy
  /** The guarded fetch, which reaches only public addresses. */
  readonly fetch: GuardedFetch
  /**
   * Returns whether a stored document may be used if its server does not respond. True at the token endpoint, false for a new
   * consent.
   */
  readonly mayBeStale: () => boolean
}

const model = 'ClientDocument'
const documentBytesMax = 5 * 1_024
const timeoutMs = 2_500

/**
 * Returns a fetch for metadata documents of clients. It stores a copy of each document, so that users stay signed in while the
 * server of the client is down. It rejects if the request fails or the document is invalid, and no stored copy may be used. The
 * library judges the status of other responses.
 */
export function createDocumentFetch(parts: DocumentParts): typeof fetch {
  return async (input, init) => {
    const clientId = input instanceof Request ? input.url : String(input)
    let response: Response
    try {
      response = await fetchDocument(parts, clientId, init)
      if (response.status < 500) return response
    } catch (error) {
      const stale = await readStored(parts, clientId)
      if (stale === undefined) throw error
      return stale
    }
    return (await readStored(parts, clientId)) ?? response
  }
}

async function fetchDocument(
  parts: DocumentParts,
  clientId: string,
  init: RequestInit | undefined,
): Promise<Response> {
  const { headers } = init ?? {}
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await parts.fetch(clientId, { signal, ...(headers && { headers }) })
  if (response.status !== 200) return response
  const text = await readText(response)
  const document = normalizeDocument(text, parts.policy)
  // Any client may call the token endpoint under any name, so that endpoint only replaces stored copies and adds none.
  if (!parts.mayBeStale() || (await isDocumentStored(parts.store, clientId))) {
    await save(parts.store, clientId, document)
  }
  return documentResponse(document, response.headers.get('cache-control'))
}

async function readText(response: Response): Promise<string> {
  const bytes = await response.arrayBuffer()
  if (bytes.byteLength > documentBytesMax) {
    throw new Error(`the metadata document is longer than ${documentBytesMax} bytes`)
  }
  return new TextDecoder().decode(bytes)
}

function normalizeDocument(text: string, policy: RedirectPolicy): string {
  const given = JSON.parse(text) as ClientMetadata
  const normalized = normalizeClient(given, policy)
  if (normalized.kind === 'refused') throw new Error(normalized.fault.error_description)
  // Keep the secret: the library refuses documents that contain one, so it must see it.
  const secret = 'client_secret' in given ? { client_secret: given['client_secret'] } : {}
  return JSON.stringify({ ...normalized.metadata, ...secret })
}

async function save(store: RecordStore, clientId: string, document: string): Promise<void> {
  const { rows, place, secrets, clientMs } = store
  const now = store.now()
  const record = {
    model,
    id: clientId,
    sealedPayload: secrets.seal(document, recordPayloadPlace(place.providerId)),
    grantId: undefined,
    uid: undefined,
    clientId: undefined,
    customerRef: undefined,
    expiresAt: new Date(now.getTime() + clientMs),
  }
  await rows.write((sql) => saveRecord(sql, place, record, now))
}

/** Returns whether the client's document is stored, which means that a person's browser has opened this client before. */
export async function isDocumentStored(store: RecordStore, clientId: string): Promise<boolean> {
  return (await find(store, clientId)) !== undefined
}

function find({ rows, place, now }: RecordStore, clientId: string) {
  return rows.read((sql) => findRecord(sql, place, { model, id: clientId }, now()))
}

async function readStored(parts: DocumentParts, clientId: string): Promise<Response | undefined> {
  if (!parts.mayBeStale()) return undefined
  const { place, secrets } = parts.store
  const found = await find(parts.store, clientId)
  if (found === undefined) return undefined
  const document = secrets.open(found.sealedPayload, recordPayloadPlace(place.providerId))
  return documentResponse(document, null)
}

function documentResponse(document: string, cacheControl: string | null): Response {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (cacheControl !== null) headers.set('cache-control', cacheControl)
  return new Response(document, { headers })
}

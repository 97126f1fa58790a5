import {
  environmentOfSecretKey,
  faultOfAuthorization,
  secretKeyOf,
  sha256OfSecretKey,
} from '@tollgate/domain/api-keys/secret-key'
import { holderOfServiceKey, serviceScopes } from '@tollgate/domain/api-keys/service-key'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { apiKeyDocumentKey, type PublishedApiKey } from '@tollgate/schemas/hot-state/documents'
import type { FetchKey, Found, KeyDirectory } from '../domain/key-holder.ts'
import { DocumentCache } from './document-cache.ts'
import { PublicationCheck } from './publication-check.ts'

export type KeyCacheOptions = {
  readonly freshMs: number
  readonly staleMs: number
  readonly keysMax: number
  readonly refusedMax: number
  /** Undefined if no service of the installation may use service keys here. */
  readonly serviceSecret: string | undefined
}

type KeyState = Pick<HotState, 'readDocument' | 'incarnation'>

/** A longer header cannot contain one of our keys. It must not fill the cache of refused keys with megabytes. */
const headerCharsMax = 128

/**
 * Finds the holders of secret keys. The cache key is the whole Authorization header, so that a key is parsed and hashed once per
 * `freshMs` instead of once per request. A revocation takes effect when the cached answer is no longer fresh. A key that the hot
 * state has lost or cannot read is not refused: the cached answer stays in use for up to `staleMs`, and then the control plane is
 * queried.
 */
export class KeyCache implements KeyDirectory {
  readonly #clock: Clock
  readonly #documents: DocumentCache<PublishedApiKey>

  constructor(hotState: KeyState, fetchKey: FetchKey, clock: Clock, options: KeyCacheOptions) {
    this.#clock = clock
    const check = new PublicationCheck(hotState, 'api-key')
    const services = new ServiceKeys(options, fetchKey)
    this.#documents = new DocumentCache({
      load: (authorization) =>
        services.read(authorization) ?? readKey(hotState, check, authorization),
      loadFallback: fetchKey,
      freshMs: options.freshMs,
      staleMs: options.staleMs,
      presentMax: options.keysMax,
      missingMax: options.refusedMax,
    })
  }

  peek(authorization: string): Found | 'unknown' {
    if (authorization === '') return 'missing_key'
    if (authorization.length > headerCharsMax) return 'malformed_key'
    const cached = this.#documents.peek(authorization)
    return cached === undefined ? 'unknown' : this.#judge(authorization, cached.value)
  }

  async find(authorization: string): Promise<Found> {
    return this.#judge(authorization, await this.#documents.find(authorization))
  }

  #judge(authorization: string, key: PublishedApiKey | undefined): Found {
    if (key === undefined) return faultOfAuthorization(authorization)
    if (key.expiresAtMs !== null && key.expiresAtMs <= this.#clock.now()) return 'invalid_key'
    if (key.isMisplaced === true) return 'misplaced'
    if (key.scopes !== undefined && !key.scopes.includes('ingest')) return 'forbidden'
    return key
  }
}

/**
 * Keys of other services of the installation. Only the control plane knows whether a provider is live. A provider that is live
 * stays live, so the control plane is queried once per provider.
 */
class ServiceKeys {
  readonly #secret: string | undefined
  readonly #fetchKey: FetchKey
  readonly #providersMax: number
  readonly #live = new Set<string>()

  constructor({ serviceSecret, keysMax }: KeyCacheOptions, fetchKey: FetchKey) {
    this.#secret = serviceSecret
    this.#fetchKey = fetchKey
    this.#providersMax = keysMax
  }

  /** Returns undefined if the header contains no service key that is valid here. */
  read(authorization: string): Promise<PublishedApiKey | undefined> | undefined {
    if (this.#secret === undefined) return undefined
    const holder = holderOfServiceKey(this.#secret, authorization)
    if (holder === undefined) return undefined
    const key: PublishedApiKey = {
      ...holder,
      keyId: 'service',
      expiresAtMs: null,
      scopes: serviceScopes,
    }
    if (holder.environment === 'sandbox' || this.#live.has(holder.providerId)) {
      return Promise.resolve(key)
    }
    return this.#fetchLive(authorization, holder.providerId)
  }

  async #fetchLive(
    authorization: string,
    providerId: string,
  ): Promise<PublishedApiKey | undefined> {
    const key = await this.#fetchKey(authorization)
    if (key !== undefined && key.isMisplaced !== true) {
      if (this.#live.size >= this.#providersMax) this.#live.clear()
      this.#live.add(providerId)
    }
    return key
  }
}

async function readKey(
  hotState: KeyState,
  check: PublicationCheck,
  authorization: string,
): Promise<PublishedApiKey | undefined> {
  const secretKey = secretKeyOf(authorization)
  // The checksum of the key avoids a read for texts that cannot be a key.
  if (secretKey === undefined || environmentOfSecretKey(secretKey) === undefined) return undefined
  const documentKey = apiKeyDocumentKey(sha256OfSecretKey(secretKey))
  const document = await check.find(() => hotState.readDocument(documentKey))
  return document === undefined ? undefined : (JSON.parse(document) as PublishedApiKey)
}

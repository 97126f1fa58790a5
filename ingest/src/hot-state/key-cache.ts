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
import type { AskForKey, Found, KeyDirectory } from '../domain/key-holder.ts'
import { DocumentCache } from './document-cache.ts'
import { PublicationCheck } from './publication-check.ts'

export type KeyCacheOptions = {
  readonly freshMs: number
  readonly staleMs: number
  readonly keysMax: number
  readonly refusedMax: number
  /** Undefined: no service of the installation has keys here. */
  readonly serviceSecret: string | undefined
}

type KeyState = Pick<HotState, 'readDocument' | 'incarnation'>

/** A longer header cannot hold a key of ours, and must not fill the cache of refused ones with megabytes. */
const headerCharsMax = 128

/**
 * Who holds which secret key, by the whole Authorization header: parsing and hashing are done once per key and
 * `freshMs`, not once per request. A revocation takes effect when what is known about the key is no longer fresh. A key
 * that hot state has lost, or that cannot be read there, is not refused: what was known of it stays in use for a while,
 * and then the control plane is asked, once in that while.
 */
export class KeyCache implements KeyDirectory {
  readonly #clock: Clock
  readonly #documents: DocumentCache<PublishedApiKey>

  constructor(hotState: KeyState, askForKey: AskForKey, clock: Clock, options: KeyCacheOptions) {
    this.#clock = clock
    const check = new PublicationCheck(hotState, 'api-key')
    const services = new ServiceKeys(options, askForKey)
    this.#documents = new DocumentCache({
      load: (authorization) =>
        services.read(authorization) ?? readKey(hotState, check, authorization),
      loadElsewhere: askForKey,
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
 * Keys of other services of the installation. Only the control plane knows whether a provider is live; a provider that is
 * live stays live, so it is asked about each of them once.
 */
class ServiceKeys {
  readonly #secret: string | undefined
  readonly #askForKey: AskForKey
  readonly #providersMax: number
  readonly #live = new Set<string>()

  constructor({ serviceSecret, keysMax }: KeyCacheOptions, askForKey: AskForKey) {
    this.#secret = serviceSecret
    this.#askForKey = askForKey
    this.#providersMax = keysMax
  }

  /** Undefined if the header holds no service key that is valid here. */
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
    return this.#askForLive(authorization, holder.providerId)
  }

  async #askForLive(
    authorization: string,
    providerId: string,
  ): Promise<PublishedApiKey | undefined> {
    const key = await this.#askForKey(authorization)
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
  // The checksum spares the look-up for what cannot be a key.
  if (secretKey === undefined || environmentOfSecretKey(secretKey) === undefined) return undefined
  const documentKey = apiKeyDocumentKey(sha256OfSecretKey(secretKey))
  const document = await check.find(() => hotState.readDocument(documentKey))
  return document === undefined ? undefined : (JSON.parse(document) as PublishedApiKey)
}

import type { JWK } from 'oidc-provider'
import {
  addTokenKey,
  generateTokenKey,
  listTokenKeys,
  tokenKeyPlace,
  type TokenKey,
} from '@tollgate/domain/customer-auth/token-keys'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { Environment } from '@tollgate/schemas/environment'
import { Recent } from '@tollgate/platform/memory/recent'

/** The private keys of a provider. The first one signs. */
export type SigningKeys = readonly [JWK & { readonly kid: string }, ...JWK[]]

type SigningKeyParts = {
  readonly database: ProviderDatabases
  readonly secrets: Secrets
  readonly clock: Clock
}

/** A new key signs nothing until this time has passed, in milliseconds, so that services that verify tokens can fetch it first. */
const announcementMs = 10 * 60_000

const cacheMs = 2_000
const providersMax = 1_000

type CachedKeys = { readonly keys: Promise<SigningKeys>; readonly readAtMs: number }

/**
 * Reads the signing keys of providers. Creates a key if there is none or if the newest is older than `keyMs`. Keys are cached for a
 * few seconds, so that every process follows a rotation.
 */
export class KeyRing {
  readonly #parts: SigningKeyParts
  readonly #keyMs: number
  readonly #cache = new Recent<CachedKeys>(providersMax)

  constructor(parts: SigningKeyParts, keyMs: number) {
    this.#parts = parts
    this.#keyMs = keyMs
  }

  of(environment: Environment, providerId: string): Promise<SigningKeys> {
    const name = `${environment} ${providerId}`
    const nowMs = this.#parts.clock.now()
    const cached = this.#cache.get(name)
    if (cached !== undefined && Math.abs(nowMs - cached.readAtMs) < cacheMs) return cached.keys
    const keys = this.#refresh(environment, providerId, cached?.keys)
    this.#cache.set(name, { keys, readAtMs: nowMs })
    keys.catch(() => {
      // After a failed read, the next call reads again. Another call may have replaced the entry meanwhile, so delete only this
      // one.
      if (this.#cache.get(name)?.keys === keys) this.#cache.delete(name)
    })
    return keys
  }

  /** Reads the keys again. Returns the previous array if nothing changed, so that objects built from it stay in use. */
  async #refresh(
    environment: Environment,
    providerId: string,
    previous: Promise<SigningKeys> | undefined,
  ): Promise<SigningKeys> {
    const readPrevious = previous?.catch(() => undefined)
    const [keys, known] = await Promise.all([this.#read(environment, providerId), readPrevious])
    const isSame = known !== undefined && namesOf(known) === namesOf(keys)
    return isSame ? known : keys
  }

  async #read(environment: Environment, providerId: string): Promise<SigningKeys> {
    const rows = this.#parts.database.of(providerId).in(environment)
    const now = new Date(this.#parts.clock.now())
    const staleBefore = new Date(now.getTime() - this.#keyMs)
    const list = () => rows.read((sql) => listTokenKeys(sql, providerId))
    let keys = await list()
    const [newest] = keys
    if (newest === undefined || newest.activeFrom < staleBefore) {
      const activeFrom = newest === undefined ? now : new Date(now.getTime() + announcementMs)
      const created = await generateTokenKey(this.#parts.secrets, providerId, activeFrom)
      const unlessActiveSince = newest === undefined ? new Date(0) : staleBefore
      await rows.write((sql) => addTokenKey(sql, created, { unlessActiveSince, now }))
      keys = await list()
    }
    return this.#signingKeyFirst(keys, now)
  }

  #signingKeyFirst(keys: readonly TokenKey[], now: Date): SigningKeys {
    const signing = keys.find(({ activeFrom }) => activeFrom <= now) ?? keys.at(-1)!
    const ordered = [signing, ...keys.filter((each) => each !== signing)]
    return ordered.map((key) => this.#open(key)) as unknown as SigningKeys
  }

  #open({ providerId, sealedPrivateJwk }: TokenKey): JWK {
    return JSON.parse(this.#parts.secrets.open(sealedPrivateJwk, tokenKeyPlace(providerId))) as JWK
  }
}

function namesOf(keys: SigningKeys): string {
  return keys.map(({ kid }) => kid).join()
}

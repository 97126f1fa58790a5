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
export const announcedMs = 10 * 60_000

const readAgainMs = 2_000
const providersMax = 1_000

type Kept = { readonly keys: Promise<SigningKeys>; readonly readAtMs: number }

/**
 * Reads the signing keys of providers. Creates a key if there is none or if the newest is older than `keyMs`. Keys are cached for a
 * few seconds, so that every process follows a rotation.
 */
export class KeyRing {
  readonly #parts: SigningKeyParts
  readonly #keyMs: number
  readonly #kept = new Recent<Kept>(providersMax)

  constructor(parts: SigningKeyParts, keyMs: number) {
    this.#parts = parts
    this.#keyMs = keyMs
  }

  of(environment: Environment, providerId: string): Promise<SigningKeys> {
    const name = `${environment} ${providerId}`
    const nowMs = this.#parts.clock.now()
    const kept = this.#kept.get(name)
    if (kept !== undefined && Math.abs(nowMs - kept.readAtMs) < readAgainMs) return kept.keys
    const keys = this.#readAgain(environment, providerId, kept?.keys)
    this.#kept.set(name, { keys, readAtMs: nowMs })
    keys.catch(() => {
      // After a failed read, the next call reads again. Another call may have replaced the entry meanwhile, so delete only this
      // one.
      if (this.#kept.get(name)?.keys === keys) this.#kept.delete(name)
    })
    return keys
  }

  /** Reads the keys again. Returns the previous array if nothing changed, so that objects built from it stay in use. */
  async #readAgain(
    environment: Environment,
    providerId: string,
    before: Promise<SigningKeys> | undefined,
  ): Promise<SigningKeys> {
    const readBefore = before?.catch(() => undefined)
    const [keys, known] = await Promise.all([this.#read(environment, providerId), readBefore])
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
      const activeFrom = newest === undefined ? now : new Date(now.getTime() + announcedMs)
      const drawn = await generateTokenKey(this.#parts.secrets, providerId, activeFrom)
      const unlessActiveSince = newest === undefined ? new Date(0) : staleBefore
      await rows.write((sql) => addTokenKey(sql, drawn, { unlessActiveSince, now }))
      keys = await list()
    }
    return this.#inOrder(keys, now)
  }

  #inOrder(keys: readonly TokenKey[], now: Date): SigningKeys {
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

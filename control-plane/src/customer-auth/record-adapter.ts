import type { Adapter, AdapterPayload } from 'oidc-provider'
import { revokeGrant } from '@tollgate/domain/customer-auth/access-tokens'
import {
  consumeRecord,
  findRecord,
  findRecordByUid,
  recordPayloadPlace,
  removeRecord,
  saveRecord,
  type RecordPlace,
  type StoredRecord,
} from '@tollgate/domain/customer-auth/oauth-records'
import type { ProviderRows } from '@tollgate/platform/database/database'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import { AlreadyUsedError, findEarlierRecord, writeOrCollect } from './commit-together.ts'

export type RecordStore = {
  readonly rows: ProviderRows
  readonly place: RecordPlace
  readonly secrets: Secrets
  readonly now: () => Date
  /** How long a registered client is stored after its last use, in milliseconds. */
  readonly clientMs: number
}

/** Stores the records of one model of one issuer in PostgreSQL. Ids are stored as digests, payloads are encrypted. */
export class RecordAdapter implements Adapter {
  readonly #store: RecordStore
  readonly #model: string

  constructor(store: RecordStore, model: string) {
    this.#store = store
    this.#model = model
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const { rows, place } = this.#store
    const now = this.#store.now()
    const isClient = this.#model === 'Client'
    // A lifetime of 0 or less counts as 1 second. Otherwise such a record would never expire.
    const requestedMs = expiresIn === undefined ? undefined : Math.max(1, expiresIn) * 1_000
    const lifetimeMs = isClient ? this.#store.clientMs : requestedMs
    const record = {
      model: this.#model,
      id,
      sealedPayload: this.#seal(payload),
      grantId: this.#model === 'Grant' ? id : payload.grantId,
      uid: payload.uid,
      clientId: isClient ? id : undefined,
      customerRef: payload.accountId,
      expiresAt: lifetimeMs === undefined ? null : new Date(now.getTime() + lifetimeMs),
    }
    await writeOrCollect(rows, (sql) => saveRecord(sql, place, record, now))
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { rows, place, now } = this.#store
    const earlier = findEarlierRecord(this.#model, id)
    if (earlier !== undefined) return this.#opened(earlier.record)
    const key = { model: this.#model, id }
    return this.#opened(await rows.read((sql) => findRecord(sql, place, key, now())))
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const { rows, place, now } = this.#store
    const key = { model: this.#model, uid }
    return this.#opened(await rows.read((sql) => findRecordByUid(sql, place, key, now())))
  }

  /** The device flow is disabled, so no user codes exist. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  /**
   * The library first reads a record and then consumes it. If two requests both read the record unused, the second one fails here.
   */
  async consume(id: string): Promise<void> {
    const { rows, place, now } = this.#store
    const key = { model: this.#model, id }
    await writeOrCollect(rows, async (sql) => {
      if (!(await consumeRecord(sql, place, key, now()))) throw new AlreadyUsedError()
    })
  }

  /** An interaction ends when its code is stored. However often the browser returns, it yields only one code. */
  async destroy(id: string): Promise<void> {
    const { rows, place } = this.#store
    const key = { model: this.#model, id }
    if (this.#model !== 'Interaction') {
      await rows.write((sql) => removeRecord(sql, place, key))
      return
    }
    await writeOrCollect(rows, async (sql) => {
      if (!(await removeRecord(sql, place, key))) throw new AlreadyUsedError()
    })
  }

  /**
   * The library calls this method once for each model. The first call revokes all records of the grant, even if the request is
   * refused.
   */
  async revokeByGrantId(grantId: string): Promise<void> {
    const { rows, place, now } = this.#store
    const { providerId, issuer } = place
    await rows.write((sql) => revokeGrant(sql, providerId, { issuer, grantId }, now()))
  }

  #seal(payload: AdapterPayload): string {
    const { place, secrets } = this.#store
    return secrets.seal(JSON.stringify(payload), recordPayloadPlace(place.providerId))
  }

  #opened(record: StoredRecord | undefined): AdapterPayload | undefined {
    if (record === undefined) return undefined
    const { place, secrets } = this.#store
    const text = secrets.open(record.sealedPayload, recordPayloadPlace(place.providerId))
    const payload = JSON.parse(text) as AdapterPayload
    const { consumedAt } = record
    return consumedAt === null
      ? payload
      : { ...payload, consumed: Math.floor(consumedAt.getTime() / 1_000) }
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { walletScope, walletSeries, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { jobActor } from '../src/audit/actor.ts'
import { processTakeBack } from '../src/settlement/process-take-back.ts'
import { publish } from '../src/publishing/publisher.ts'
import type { PublisherParts } from '../src/publishing/publisher-parts.ts'
import { runUnitOfWork } from '../src/unit-of-work/run-unit-of-work.ts'
import type { UnitOfWork } from '../src/unit-of-work/unit-of-work.ts'
import { adjustCredits } from '../src/wallet/adjust-credits.ts'
import { expireCredits } from '../src/wallet/expire-credits.ts'
import { claimExpiringWallets, listDueGrants } from '../src/wallet/expiring-grants.ts'
import { grantCredits } from '../src/wallet/grant-credits.ts'
import { createHoldCredits, createReleaseCredits } from '../src/wallet/hold-credits.ts'
import { resolveWalletAddress, type WalletParts } from '../src/wallet/hot-wallet.ts'
import { postDebits } from '../src/wallet/post-debits.ts'
import { spendableMicros, readWallet } from '../src/wallet/read-wallet.ts'
import { holdUsageCredits } from '../src/wallet/hold-usage-credits.ts'

const providerId = 'prv_1'
const environment = 'sandbox'
const micros = (credits: number): bigint => BigInt(credits) * 1_000_000n
const limits = { waitMs: 5_000, heldMs: 3_600_000, heldMax: 10_000 }

type LogRecord = { readonly usageRef: string; readonly micros: bigint }
type CrashPoint = 'nowhere' | 'before the commit' | 'before it publishes'

/**
 * One wallet on a real PostgreSQL and a real hot state, with a list as the log. Runs the steps of ingest, the projection
 * and the control plane, and crashes between them. Amounts are whole credits.
 */
export class WalletWorld {
  readonly customerRef: string
  nowMs = Date.UTC(2026, 4, 1)
  /** Balance in the response of the last grant. */
  reportedByGrant: number | undefined
  readonly #database: Database
  readonly #partition: number
  readonly #log: LogRecord[] = []
  #counted = 0
  #posted = 0
  #usages = 0
  #isGiven = false
  #folder = ''
  #hot!: HotState

  private constructor(database: Database, number: number) {
    this.#database = database
    this.#partition = number
    this.customerRef = `cus_world_${number}`
  }

  static async open(database: Database, number: number): Promise<WalletWorld> {
    const world = new WalletWorld(database, number)
    const { customerRef } = world
    const now = new Date(world.nowMs)
    await database.in(environment)`
      insert into customers (provider_id, reference, email, status, created_at, updated_at)
      values (${providerId}, ${customerRef}, ${`${customerRef}@example.com`}, 'active', ${now}, ${now})`
    await database.in(environment)`
      insert into customer_references (provider_id, reference, customer_ref, linked_at)
      values (${providerId}, ${customerRef}, ${customerRef}, ${now})`
    await world.#openHot()
    return world
  }

  /** Uses the remaining credits if there are fewer. */
  async use(credits: number, diesBeforeTheRecord = false): Promise<number> {
    this.#usages += 1
    const usageRef = `usage_${this.#usages}`
    const due = { ...this.#name, usageRef, dueMicros: micros(credits), isKeyed: false }
    const { heldMicros: takenMicros } = await holdUsageCredits(this.#parts, due, limits)
    if (!diesBeforeTheRecord && takenMicros > 0n) this.#log.push({ usageRef, micros: takenMicros })
    return Number(takenMicros) / 1e6
  }

  /** Appends a record that takes usage away and returns its credits, counts it and posts it. */
  async correct(credits: number): Promise<void> {
    this.#usages += 1
    this.#log.push({ usageRef: `usage_${this.#usages}`, micros: micros(-credits) })
    await this.count()
    await this.post()
  }

  /** Releases the hold of the last usage, whose record was never written. */
  async releaseLast(): Promise<void> {
    const at = resolveWalletAddress(this.#parts, this.#name)
    await this.#hot.releaseReservation(at, `usage_${this.#usages}`)
  }

  /** Lets the projection count this many more records. */
  async count(records = Infinity): Promise<void> {
    const counted = this.#log.slice(this.#counted, this.#counted + records)
    const next = this.#counted + counted.length
    const subject = walletSubject(providerId, this.customerRef)
    const at = { subject, scope: walletScope }
    await this.#hot.apply({
      space: environment,
      partition: 0,
      expectedOffset: this.#counted,
      nextOffset: next,
      marks: [],
      increments: counted.map(({ micros: amount }) => {
        return { ...at, series: walletSeries, second: 1, amount }
      }),
      settled: counted.map(({ usageRef: reservationId }) => ({ ...at, reservationId })),
    })
    this.#counted = next
  }

  /** Posts this many more records to the ledger. */
  async post(records = Infinity): Promise<void> {
    const toOffset = Math.min(this.#log.length, this.#posted + records)
    const debits = this.#log.slice(this.#posted, toOffset).map((record) => {
      const { customerRef } = this
      return { providerId, customerRef, productRef: 'prd_1', micros: record.micros }
    })
    const batch = { partition: this.#partition, fromOffset: this.#posted, toOffset, debits }
    await this.#database
      .in(environment)
      .begin((sql) => postDebits(sql, environment, batch, new Date(this.nowMs)))
    this.#posted = toOffset
    await this.publish()
  }

  /** Returns the reference of the grant. */
  async grant(credits: number, priority: number, expiresInMs: number | undefined): Promise<string> {
    const { customerRef } = this
    const expiresAt = expiresInMs === undefined ? undefined : new Date(this.nowMs + expiresInMs)
    const grant = { customerRef, credits, reason: undefined, priority, expiresAt }
    const hot = this.#isGiven ? await readWallet(this.#parts, this.#name, limits.waitMs) : undefined
    this.#isGiven = true
    const granted = await this.#commit('nowhere', (work) => grantCredits(work, grant, hot))
    this.reportedByGrant = granted?.kind === 'granted' ? granted.body.balance : undefined
    const [newest] = await this.#database.in(environment)<{ reference: string }[]>`
      select reference from ledger_transactions
      where customer_ref = ${customerRef} and kind = 'grant' order by xmin::text::bigint desc limit 1`
    return newest!.reference
  }

  async adjust(credits: number, idempotencyKey: string, dies: CrashPoint): Promise<string> {
    const { customerRef } = this
    const ownKey = `${customerRef} ${idempotencyKey}`
    const adjustment = { customerRef, credits, reason: 'why', idempotencyKey: ownKey }
    const hot = await readWallet(this.#parts, this.#name, limits.waitMs)
    const outcome = await this.#commit(dies, (work) =>
      adjustCredits(work, adjustment, hot, this.#hold),
    )
    return outcome?.kind ?? 'died'
  }

  /** Tries again after a crash: the credits are removed or restored once. */
  async takeBack(reference: string, dies: CrashPoint): Promise<void> {
    const { customerRef } = this
    const name = { providerId, reference, customerRef }
    const hot = await readWallet(this.#parts, this.#name, limits.waitMs)
    const credits = { hold: this.#hold, release: createReleaseCredits(this.#parts) }
    await this.commit((work) => processTakeBack(work, name, hot, credits), dies)
  }

  /** Runs the body in a unit of work of the provider and publishes what it queued. */
  commit<Result>(
    body: (work: UnitOfWork) => Promise<Result>,
    dies: CrashPoint = 'nowhere',
  ): Promise<Result | undefined> {
    return this.#commit(dies, body)
  }

  /** Returns the references of the expired grants that were checked. */
  async expire(dies: CrashPoint): Promise<string[]> {
    const sql = this.#database.in(environment)
    const now = new Date(this.nowMs)
    const nextLookAt = new Date(this.nowMs + 30_000)
    const { wallets } = await claimExpiringWallets(sql, now, nextLookAt, 1_000)
    if (!wallets.some(({ customerRef }) => customerRef === this.customerRef)) return []
    const due = await listDueGrants(sql, providerId, this.customerRef, now)
    await this.#commit(dies, (work) => expireCredits(work, this.customerRef, this.#hold))
    return due.map(({ grantRef }) => grantRef)
  }

  /** Expires grants like before each change that is not usage. Returns their references. */
  async expireFirst(): Promise<string[]> {
    const { customerRef } = this
    const now = new Date(this.nowMs)
    const sql = this.#database.in(environment)
    const due = await listDueGrants(sql, providerId, customerRef, now)
    if (due.length === 0) return []
    await this.#commit('nowhere', (work) => expireCredits(work, customerRef, this.#hold))
    return due.map(({ grantRef }) => grantRef)
  }

  /** Loses the hot state and rebuilds it from PostgreSQL and the log. */
  async wipe(): Promise<void> {
    await this.close()
    await this.#openHot()
    await publish(this.#publisher, environment, this.#target, 'always')
    this.#counted = 0
    await this.count()
  }

  publish(): Promise<void> {
    return publish(this.#publisher, environment, this.#target, 'pending')
  }

  /** Returns the balance that the customer sees. */
  async left(): Promise<number> {
    return Number(spendableMicros(await readWallet(this.#parts, this.#name, limits.waitMs))) / 1e6
  }

  /** Returns the remaining credits by the ledger, in total and for each grant. */
  async ledger(): Promise<{ balance: number; grants: Map<string, number>; breakage: number }> {
    const sql = this.#database.in(environment)
    const [wallet] = await sql<{ balance: string; breakage: string }[]>`
      select balance_micros as balance, (
        select coalesce(sum(amount), 0) from ledger_entries
        where account = 'breakage' and customer_ref = ${this.customerRef}
      ) as breakage from wallets where customer_ref = ${this.customerRef}`
    const grants = await sql<{ reference: string; remaining: string }[]>`
      select transaction_ref as reference, remaining_micros as remaining from credit_grants
      where customer_ref = ${this.customerRef}`
    return {
      balance: Number(wallet!.balance) / 1e6,
      breakage: Number(wallet!.breakage) / 1e6,
      grants: new Map(
        grants.map(({ reference, remaining }) => [reference, Number(remaining) / 1e6]),
      ),
    }
  }

  async close(): Promise<void> {
    await this.#hot.close()
    await rm(this.#folder, { recursive: true })
  }

  async #openHot(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'tollgate-wallet-'))
    this.#hot = await openLmdbHotState({ folder: this.#folder, role: 'projection' })
  }

  async #commit<Result>(
    dies: CrashPoint,
    body: (work: UnitOfWork) => Promise<Result>,
  ): Promise<Result | undefined> {
    const operation = {
      providerId,
      environment,
      now: new Date(this.nowMs),
      actor: jobActor('test'),
      requestId: null,
      idempotencyKey: null,
    } as const
    const killed = new Error('killed')
    const committed = await runUnitOfWork(this.#database, operation, async (work) => {
      const result = await body(work)
      if (dies === 'before the commit') throw killed
      return result
    }).catch((error: unknown) => {
      if (error !== killed) throw error
      return undefined
    })
    if (committed === undefined) return undefined
    if (dies === 'nowhere') await this.publish()
    return committed.result
  }

  get #parts(): WalletParts {
    const log = { head: () => Promise.resolve(this.#log.length), partitionCount: () => 1 }
    return { log, hotState: this.#hot }
  }

  get #hold() {
    return createHoldCredits(this.#parts, limits)
  }

  get #name() {
    return { environment, providerId, customerRef: this.customerRef } as const
  }

  get #target() {
    return { kind: 'customer', providerId, target: this.customerRef } as const
  }

  get #publisher(): PublisherParts {
    return {
      database: this.#database,
      hotState: this.#hot,
      partitionCount: () => 1,
      now: () => new Date(this.nowMs),
    }
  }
}

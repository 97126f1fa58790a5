import { randomUUID } from 'node:crypto'
import { jobActor } from '@tollgate/domain/audit/actor'
import { createSchedule } from '@tollgate/domain/credit-schedules/create-schedule'
import {
  changeSchedule,
  moveSchedule,
  type ScheduleMove,
} from '@tollgate/domain/credit-schedules/change-schedule'
import type { CreditSchedule } from '@tollgate/domain/credit-schedules/credit-schedule'
import {
  findSchedule,
  listScheduledGrants,
  type ScheduledGrant,
} from '@tollgate/domain/credit-schedules/repository'
import { publishTogether } from '@tollgate/domain/publishing/publisher'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { adjustCredits } from '@tollgate/domain/wallet/adjust-credits'
import { expireCredits } from '@tollgate/domain/wallet/expire-credits'
import { grantCredits } from '@tollgate/domain/wallet/grant-credits'
import { createHoldCredits } from '@tollgate/domain/wallet/hold-credits'
import type { WalletParts } from '@tollgate/domain/wallet/hot-wallet'
import { readWallet, spendableMicros } from '@tollgate/domain/wallet/read-wallet'
import type {
  CreditScheduleChange,
  CreditScheduleInput,
} from '@tollgate/schemas/http/credit-schedules'
import { createScheduledGrants } from '../src/jobs/grant-credits.ts'
import type { ItemOutcome } from '../src/jobs/job.ts'
import { publisherOf } from '../src/open-parts.ts'
import type { RunnerStack, Shop } from './runner-stack.ts'

const environment = 'sandbox'
const waitMs = 5_000

/** The moment at which the process of a run dies: before or after the commit of a transaction. The first transaction is 1. */
export type Death = { readonly transaction: number; readonly when: 'before' | 'after' }

class DeadError extends Error {}

/** One customer with a schedule, on a real PostgreSQL and a real hot state. Amounts are whole credits. */
export class ScheduleWorld {
  readonly #stack: RunnerStack
  readonly #shop: Shop
  readonly customerRef: string
  scheduleRef = ''
  nowMs: number

  constructor(stack: RunnerStack, shop: Shop, customerRef: string, nowMs: number) {
    this.#stack = stack
    this.#shop = shop
    this.customerRef = customerRef
    this.nowMs = nowMs
  }

  /** Publishes the wallet, with one credit that is used last. */
  async openWallet(): Promise<void> {
    const one = { customerRef: this.customerRef, credits: 1, reason: undefined, priority: 1_000 }
    await this.commit((work) => grantCredits(work, one, undefined))
  }

  async create(input: CreditScheduleInput, key: string = randomUUID()): Promise<string> {
    const outcome = await this.commit(
      (work) => createSchedule(work, this.customerRef, input),
      undefined,
      key,
    )
    if (outcome.kind !== 'created') throw new Error(JSON.stringify(outcome))
    this.scheduleRef = outcome.schedule.reference
    return this.scheduleRef
  }

  change(change: CreditScheduleChange) {
    return this.commit((work) => changeSchedule(work, this.#name, change))
  }

  move(move: ScheduleMove) {
    return this.commit((work) => moveSchedule(work, this.#name, move))
  }

  /** Runs the job for the schedule. Returns undefined if its process dies. */
  async run(death?: Death, grantsMax = 100): Promise<ItemOutcome | undefined> {
    const limits = { creditsHeldMax: 100, usageStoredWaitMs: waitMs, scheduledGrantsMax: grantsMax }
    const job = createScheduledGrants(limits, this.#hot)
    let transactions = 0
    const context = {
      ...({ environment, providerId: this.#shop.providerId, now: new Date(this.nowMs) } as const),
      readProvider: () => Promise.reject(new Error('not read')),
      commit: <Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result> => {
        transactions += 1
        const when = transactions === death?.transaction ? death.when : undefined
        return this.commit(body, when)
      },
    }
    try {
      return await job.perform(context, this.scheduleRef)
    } catch (error) {
      if (!(error instanceof DeadError)) throw error
      return undefined
    }
  }

  /** Removes credits as usage would, after the due grants have expired. */
  async spend(credits: number): Promise<void> {
    await this.expire()
    if (credits === 0) return
    const { customerRef } = this
    const adjustment = {
      customerRef,
      credits: -credits,
      reason: 'used',
      idempotencyKey: randomUUID(),
    }
    const hot = await readWallet(this.#hot, this.#wallet, waitMs)
    const outcome = await this.commit((work) => adjustCredits(work, adjustment, hot, this.#hold))
    if (outcome.kind !== 'adjusted') throw new Error(outcome.kind)
  }

  async expire(): Promise<void> {
    await this.commit((work) => expireCredits(work, this.customerRef, this.#hold))
  }

  /** Returns the balance without the first credit. */
  async balance(): Promise<number> {
    await this.expire()
    return Number(spendableMicros(await readWallet(this.#hot, this.#wallet, waitMs))) / 1e6 - 1
  }

  async schedule(): Promise<CreditSchedule> {
    const sql = this.#stack.database.in(environment)
    return (await findSchedule(sql, this.#shop.providerId, this.scheduleRef))!
  }

  /** Returns the processed dates, oldest first. */
  async grants(): Promise<ScheduledGrant[]> {
    const sql = this.#stack.database.in(environment)
    const page = { limit: 1_000, offset: 0 }
    const { grants } = await listScheduledGrants(sql, this.#shop.providerId, this.scheduleRef, page)
    return grants.toReversed()
  }

  /** Commits and publishes. A process that dies after the commit has not published. */
  async commit<Result>(
    body: (work: UnitOfWork) => Promise<Result>,
    dies?: Death['when'],
    idempotencyKey: string | null = null,
  ): Promise<Result> {
    const { providerId } = this.#shop
    const now = new Date(this.nowMs)
    const by = { actor: jobActor('test'), requestId: null, idempotencyKey }
    const operation = { providerId, environment, now, ...by } as const
    const { result, publications } = await runUnitOfWork(
      this.#stack.database,
      operation,
      async (work) => {
        const result = await body(work)
        if (dies === 'before') throw new DeadError()
        return result
      },
    )
    if (dies === 'after') throw new DeadError()
    await publishTogether(publisherOf(this.#stack.parts), environment, publications)
    return result
  }

  /** Publishes what a dead process has not published. */
  async publish(): Promise<void> {
    const { providerId } = this.#shop
    const target = { kind: 'customer', providerId, target: this.customerRef } as const
    await publishTogether(publisherOf(this.#stack.parts), environment, [target])
  }

  get #name() {
    return { customerRef: this.customerRef, reference: this.scheduleRef }
  }

  get #wallet() {
    return {
      environment,
      providerId: this.#shop.providerId,
      customerRef: this.customerRef,
    } as const
  }

  get #hot(): WalletParts {
    return { log: this.#stack.parts.eventLog, hotState: this.#stack.hotState }
  }

  get #hold() {
    return createHoldCredits(this.#hot, { heldMax: 100 })
  }
}

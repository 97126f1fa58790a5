import { activatePlan } from '@tollgate/domain/billing/activate-plan'
import { changePlan } from '@tollgate/domain/catalog/change-plan'
import { listDueItems } from '@tollgate/domain/calendar/claims'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { listLines } from '@tollgate/domain/invoices/lines'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import { createMigration } from '@tollgate/domain/plan-migrations/create-migration'
import { moveMigration } from '@tollgate/domain/plan-migrations/move-migration'
import type { MigrationMove } from '@tollgate/domain/plan-migrations/plan-migration'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { reactivatePurchase } from '@tollgate/domain/purchases/reactivate-purchase'
import { findDecidingPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import { withdrawChange } from '@tollgate/domain/plan-migrations/withdraw-change'
import { scheduleChange } from '@tollgate/domain/purchases/schedule-change'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { PlanMigrationInput } from '@tollgate/schemas/http/plan-migrations'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import { applyChargeOutcome } from '@tollgate/domain/charging/apply-charge-outcome'
import { createJobs } from '../src/jobs/job-catalogue.ts'
import type { ItemContext, ItemJob } from '../src/jobs/job.ts'
import type { ModelCharge } from './terms-model.ts'
import type { RunnerStack, Shop } from './runner-stack.ts'

/** The process that runs a job has died. */
class DeathError extends Error {
  override readonly name = 'DeathError'
}

/** Counts the transactions of jobs down to the one at which the process dies, before or after its commit. */
export type Death = { commitsLeft: number; readonly isAfterCommit: boolean }

const seller = { name: 'Acme' }
const jobNames = [
  'payment-retries',
  'ended-purchases',
  'renewals',
  'plan-changes',
  'plan-migrations',
] as const

/** A job that goes on with other items reports the death of one as the cause of its error. */
function isDeath(error: unknown): boolean {
  return (
    error instanceof Error && (error instanceof DeathError || error.cause instanceof DeathError)
  )
}

/** Makes the changes of the model's customers to real purchases, and reads what was charged. */
export class TermsPlayer {
  readonly migrations: string[] = []
  private readonly stack: RunnerStack
  private readonly shop: Shop

  constructor(stack: RunnerStack, shop: Shop) {
    this.stack = stack
    this.shop = shop
  }

  get now(): Date {
    return new Date(this.stack.clock.now())
  }

  held(customerRef: string): Promise<Purchase> {
    return this.stack.within(this.shop, async ({ sql, providerId }) => {
      const { reference } = this.shop.product
      return (await findDecidingPurchase(sql, providerId, customerRef, reference))!
    })
  }

  async changePrice(planRef: string, price: number): Promise<void> {
    await this.stack.within(this.shop, (work) =>
      changePlan(work, this.shop.product.reference, planRef, { price }, 'USD'),
    )
  }

  /** Returns whether the migration began. */
  async migrate(planRef: string, input: PlanMigrationInput): Promise<boolean> {
    const productRef = this.shop.product.reference
    const outcome = await this.stack.within(this.shop, (work) =>
      createMigration(work, { productRef, planRef, input }),
    )
    if (outcome.kind === 'created') this.migrations.push(outcome.migration.reference)
    else if (outcome.kind !== 'another-running') throw new Error(JSON.stringify(outcome))
    return outcome.kind === 'created'
  }

  /** Returns whether the move had an effect on the newest migration. */
  async moveNewest(move: MigrationMove): Promise<boolean> {
    const reference = this.migrations.at(-1)
    if (reference === undefined) return false
    const outcome = await this.stack.within(this.shop, (work) =>
      moveMigration(work, reference, move),
    )
    return outcome.kind === 'moved'
  }

  async schedule(
    customerRef: string,
    planRef: string,
    effectiveAt: Date | undefined,
    billing: ChangeBilling | undefined,
  ): Promise<string> {
    const { reference: purchaseRef } = await this.held(customerRef)
    const outcome = await this.stack.within(this.shop, (work) =>
      scheduleChange(work, { purchaseRef, planRef, effectiveAt, billing }),
    )
    return outcome.kind === 'refused' ? outcome.obstacle : outcome.kind
  }

  async withdraw(customerRef: string): Promise<void> {
    const { reference } = await this.held(customerRef)
    await this.stack.within(this.shop, (work) => withdrawChange(work, reference))
  }

  async activate(customerRef: string, planRef: string): Promise<void> {
    const { reference: productRef } = this.shop.product
    await this.stack.within(this.shop, async (work) => {
      const customer = await findCustomer(work.sql, work.providerId, customerRef)
      const request = { customer: customer!, productRef, planRef, cycleMode: 'calendar', seller }
      return activatePlan(work, request as Parameters<typeof activatePlan>[1])
    })
  }

  async cancel(customerRef: string): Promise<void> {
    const { reference } = await this.held(customerRef)
    await this.stack.within(this.shop, (work) => cancelPurchase(work, reference, null))
  }

  async reactivate(customerRef: string): Promise<void> {
    const { reference } = await this.held(customerRef)
    await this.stack.within(this.shop, (work) => reactivatePurchase(work, reference))
  }

  /** Runs all jobs until nothing is due. A process that dies is followed by another one, which starts with the first job. */
  async runJobs(death?: Death): Promise<void> {
    let mayDie = death
    for (;;) {
      try {
        return await this.runOnce(mayDie)
      } catch (error) {
        if (!isDeath(error)) throw error
        mayDie = undefined
        // Simulate the minutes after which a charge that a dead process began is repeated. A further change waits for it.
        await this.stack.database.in('sandbox')`
          update invoices set next_charge_at = ${this.now}
          where provider_id = ${this.shop.providerId} and next_charge_at is not null`
      }
    }
  }

  private async runOnce(death: Death | undefined): Promise<void> {
    const settings = { TOLLGATE_PLAN_MIGRATION_PAGE_MAX: '2' }
    const config = this.stack.config(settings)
    const jobs = createJobs(config, { ...this.stack.parts, charge: this.charge })
    // Migrations come last, so the changes that they schedule for now are made by a second round.
    for (const name of [...jobNames, 'plan-changes' as const]) {
      const { job } = jobs.find((each) => each.job.name === name)!
      await this.drain(job as ItemJob, death)
    }
  }

  private async drain(job: ItemJob, death: Death | undefined): Promise<void> {
    const pool = this.stack.database.in('sandbox')
    for (;;) {
      const items = await listDueItems(pool, job.due.select, this.now, 1_000)
      let done = 0
      for (const { providerId, item } of items) {
        if (providerId !== this.shop.providerId) continue
        const outcome = await job.perform(this.context(job.name, death), item)
        if (outcome === 'done') done += 1
      }
      if (done === 0) return
    }
  }

  private context(job: string, death: Death | undefined): ItemContext {
    const { providerId } = this.shop
    const place = { environment: 'sandbox', providerId } as const
    const { now } = this
    return {
      ...{ ...place, now },
      readProvider: () => Promise.resolve({ providerId, ...seller } as never),
      commit: async (body) => {
        const isLast = death !== undefined && death.commitsLeft-- === 0
        if (isLast && !death.isAfterCommit) throw new DeathError()
        const operation = jobOperation(job, place, now)
        const { result } = await runUnitOfWork(this.stack.database, operation, body)
        if (isLast) throw new DeathError()
        return result
      },
    }
  }

  private readonly charge: ChargeInvoice = async (charge, commit) => {
    const outcome = { kind: 'paid' } as const
    await commit(async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, charge.invoiceRef)
      if (invoice?.status !== 'open') return
      const chargeRef = `ch_${charge.invoiceRef}`
      await payInvoice(work, invoice, { chargeRef, amountMinor: charge.amountMinor })
      await applyChargeOutcome(work, charge.invoiceRef, outcome, { hours: [1], jitterMs: 0 })
    })
    return outcome
  }

  /** Returns the prices and differences on the customer's invoices, oldest first. */
  async chargesOf(customerRef: string): Promise<ModelCharge[]> {
    const sql = this.stack.database.in('sandbox')
    const { providerId } = this.shop
    const invoices = await sql<{ reference: string }[]>`
      select reference from invoices
      where provider_id = ${providerId} and customer_ref = ${customerRef} and status <> 'void'
      order by created_at, number nulls last`
    const charges: ModelCharge[] = []
    for (const { reference } of invoices) {
      for (const { inputs, amountMinor, period } of await listLines(sql, providerId, reference)) {
        const { kind } = inputs
        if (kind !== 'recurring' && kind !== 'proration') continue
        if (amountMinor === 0n) continue
        charges.push({
          kind,
          at: period?.start.toISOString() ?? '',
          amountMinor: Number(amountMinor),
        })
      }
    }
    return charges
  }

  /** Returns how often each migration has moved a purchase of the customer. */
  async movesOf(customerRef: string): Promise<number[]> {
    const sql = this.stack.database.in('sandbox')
    const rows = await sql<{ migration_ref: string }[]>`
      select migration_ref from plan_migration_items
      where provider_id = ${this.shop.providerId} and customer_ref = ${customerRef}
        and status = 'moved'`
    return rows
      .map((row) => this.migrations.indexOf(row.migration_ref))
      .toSorted((one, other) => one - other)
  }
}

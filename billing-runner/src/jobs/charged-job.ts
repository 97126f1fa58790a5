import type { DueItems } from '@tollgate/domain/calendar/due-items'
import { billRecurring } from '@tollgate/domain/billing/bill-recurring'
import type { BegunCharge } from '@tollgate/domain/charging/charge-invoice'
import { lockCustomer } from '@tollgate/domain/customers/repository'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import type { Period } from '@tollgate/domain/periods/periods'
import { listPurchases, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { beginCharge, collectInvoice, type Charging } from './collect-invoice.ts'
import type { ItemJob, ItemOutcome, ItemContext } from './job.ts'
import type { DecisionContext } from './purchase-job.ts'

/** The decision to charge for a period, which begins when the payment succeeds. */
export type ChargeDecision = {
  readonly kind: 'charge'
  readonly period: Period
  readonly isFirstCharge: boolean
}

export type ChargedJob<Decision> = {
  readonly name: string
  readonly due: DueItems
  decide(at: DecisionContext, purchase: Purchase): Promise<Decision | ChargeDecision>
  /** Applies a decision that needs no charge, in the transaction that holds the lock on the purchase. */
  act(work: UnitOfWork, purchase: Purchase, decision: Decision): Promise<ItemOutcome>
  describe(decision: Decision): string
  /** Returns whether the decision replaces the purchase by another one. Absent means never. */
  changesPlan?(decision: Decision | ChargeDecision): boolean
}

type Prepared =
  | { readonly kind: 'over'; readonly outcome: ItemOutcome }
  /** The customer must be locked before the purchase, so the transaction starts again with that lock. */
  | { readonly kind: 'customer-first'; readonly customerRef: string }
  | { readonly kind: 'due'; readonly invoice: Invoice; readonly begun: BegunCharge | undefined }

/**
 * Creates a job that may charge. The invoice is issued and its charge is recorded first, and committed: after a crash, the next
 * attempt finds both.
 */
export function createChargedJob<Decision extends { readonly kind: string }>(
  job: ChargedJob<Decision>,
  charging: Charging,
): ItemJob {
  return {
    kind: 'items',
    name: job.name,
    due: job.due,
    perform: async (context, reference) => {
      const first = await prepare(job, charging, context, reference)
      const prepared =
        first.kind === 'customer-first'
          ? await prepare(job, charging, context, reference, first.customerRef)
          : first
      if (prepared.kind === 'customer-first') return 'postponed'
      if (prepared.kind === 'over') return prepared.outcome
      return collectInvoice(context, prepared.invoice, charging, prepared.begun)
    },
    explain: async (sql, { providerId, item }, now) => {
      const [purchase] = await listPurchases(sql, providerId, { reference: item, rowsMax: 1 })
      if (purchase === undefined) return 'gone'
      const decision = await job.decide({ sql, providerId, now }, purchase)
      return isCharge(decision)
        ? `charge for the period until ${decision.period.end.toISOString()}`
        : job.describe(decision)
    },
  }
}

async function prepare<Decision extends { readonly kind: string }>(
  job: ChargedJob<Decision>,
  charging: Charging,
  context: ItemContext,
  reference: string,
  customerRef?: string,
): Promise<Prepared> {
  const seller = await context.readProvider()
  return context.commit(async (work): Promise<Prepared> => {
    const { sql, providerId } = work
    // Every change of a plan locks the customer before the purchase, which avoids deadlocks.
    if (customerRef !== undefined) await lockCustomer(sql, providerId, customerRef)
    const purchase = await lockPurchase(sql, providerId, reference)
    if (purchase === undefined) return { kind: 'over', outcome: 'nothing' }
    const decision = await job.decide(work, purchase)
    if (job.changesPlan?.(decision) === true && customerRef !== purchase.customerRef) {
      return { kind: 'customer-first', customerRef: purchase.customerRef }
    }
    if (!isCharge(decision)) {
      return { kind: 'over', outcome: await job.act(work, purchase, decision) }
    }
    const { period, isFirstCharge } = decision
    const { invoice, isNew } = await billRecurring(work, purchase, period, isFirstCharge, seller)
    // An older invoice may already have a payment. Code that applies a payment locks it before the purchase, so it must not be
    // locked here.
    const begun = isNew ? await beginCharge(work, invoice, purchase, charging) : undefined
    return { kind: 'due', invoice, begun }
  })
}

function isCharge<Decision extends { readonly kind: string }>(
  decision: Decision | ChargeDecision,
): decision is ChargeDecision {
  return decision.kind === 'charge'
}

import type { SelectDue } from '@tollgate/domain/calendar/claims'
import { billRecurring } from '@tollgate/domain/charging/bill-recurring'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import type { RetryDelays } from '@tollgate/domain/charging/decide-retry'
import { settleCharge } from '@tollgate/domain/charging/settle-charge'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import type { Period } from '@tollgate/domain/periods/periods'
import { listPurchases, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ItemJob, ItemOutcome, Turn } from './job.ts'
import type { DecidingAt } from './purchase-job.ts'

/** How what is due is collected. */
export type Charging = {
  /** Undefined: there is nobody who could, so invoices are issued and wait. */
  readonly charge: ChargeInvoice | undefined
  readonly delays: RetryDelays
}

/** What begins with a payment of the period's price. */
export type ChargeDecision = {
  readonly kind: 'charge'
  readonly period: Period
  readonly isFirstCharge: boolean
}

export type ChargedJob<Decision> = {
  readonly name: string
  readonly selectDue: SelectDue
  decide(at: DecidingAt, purchase: Purchase): Promise<Decision | ChargeDecision>
  /** Carries out what needs no charge, in the transaction that holds the purchase's row. */
  act(work: UnitOfWork, purchase: Purchase, decision: Decision): Promise<ItemOutcome>
  describe(decision: Decision): string
}

type Prepared =
  | { readonly kind: 'over'; readonly outcome: ItemOutcome }
  | { readonly kind: 'due'; readonly invoice: Invoice }

/**
 * A job that may have to charge. Order: the invoice is issued and committed; then the processor is asked, with no
 * transaction open; then what came of it is committed. Cut off before the second step, the next try finds the invoice;
 * cut off after it, the charge is asked for again under the same invoice, which is charged once.
 */
export function chargedJob<Decision extends { readonly kind: string }>(
  job: ChargedJob<Decision>,
  { charge, delays }: Charging,
): ItemJob {
  return {
    kind: 'items',
    name: job.name,
    selectDue: job.selectDue,
    perform: async (turn, reference) => {
      const prepared = await prepare(job, turn, reference)
      if (prepared.kind === 'over') return prepared.outcome
      const { invoice } = prepared
      const amountMinor = dueMinor(invoice)
      const isCollected = amountMinor === 0n || invoice.status !== 'open'
      if (!isCollected && (charge === undefined || invoice.isHeld)) return 'postponed'
      const outcome =
        isCollected || charge === undefined
          ? ({ kind: 'pending' } as const)
          : await charge({
              environment: turn.environment,
              providerId: turn.providerId,
              customerRef: invoice.customerRef,
              purchaseRef: reference,
              invoiceRef: invoice.reference,
              amountMinor,
              currency: invoice.currency,
            })
      const settled = await turn.commit((work) =>
        settleCharge(work, invoice.reference, outcome, delays),
      )
      return settled === 'settled' ? 'done' : settled === 'open' ? 'postponed' : 'nothing'
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
  turn: Turn,
  reference: string,
): Promise<Prepared> {
  const seller = await turn.readProvider()
  return turn.commit(async (work): Promise<Prepared> => {
    const purchase = await lockPurchase(work.sql, work.providerId, reference)
    if (purchase === undefined) return { kind: 'over', outcome: 'nothing' }
    const decision = await job.decide(work, purchase)
    if (!isCharge(decision)) {
      return { kind: 'over', outcome: await job.act(work, purchase, decision) }
    }
    const { period, isFirstCharge } = decision
    const invoice = await billRecurring(work, purchase, period, isFirstCharge, seller)
    return { kind: 'due', invoice }
  })
}

function isCharge<Decision extends { readonly kind: string }>(
  decision: Decision | ChargeDecision,
): decision is ChargeDecision {
  return decision.kind === 'charge'
}

import type {
  BegunCharge,
  ChargeInvoice,
  ChargeOutcome,
} from '@tollgate/domain/charging/charge-invoice'
import type { RetryDelays } from '@tollgate/domain/billing/decide-retry'
import { applyChargeOutcome } from '@tollgate/domain/charging/apply-charge-outcome'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ItemOutcome, ItemContext } from './job.ts'

/** How invoices are charged. */
export type Charging = {
  /** Undefined if no payment processor is configured: invoices are then issued and stay open. */
  readonly charge: ChargeInvoice | undefined
  readonly delays: RetryDelays
}

/**
 * Charges a committed invoice and commits the outcome. No transaction is open during the request to the processor. After a crash in
 * between, the charge is requested again, and the processor makes only one charge per invoice.
 */
export async function collectInvoice(
  context: ItemContext,
  invoice: Invoice,
  { charge, delays }: Charging,
  begun?: BegunCharge,
): Promise<ItemOutcome> {
  const amountMinor = dueMinor(invoice)
  const isCollected = !isChargeable(invoice)
  if (!isCollected && (charge === undefined || invoice.isHeld)) return 'postponed'
  const { reference: invoiceRef, customerRef, purchaseRef, currency } = invoice
  const { environment, providerId, now } = context
  const outcome: ChargeOutcome =
    isCollected || charge === undefined
      ? { kind: 'pending' }
      : await charge(
          {
            environment,
            providerId,
            customerRef,
            purchaseRef,
            invoiceRef,
            amountMinor,
            currency,
            now,
          },
          (body) => context.commit(body),
          begun,
        )
  if (outcome.kind === 'booked') return 'done'
  const settled = await context.commit((work) =>
    applyChargeOutcome(work, invoiceRef, outcome, delays),
  )
  return settled === 'settled' ? 'done' : settled === 'open' ? 'postponed' : 'nothing'
}

/**
 * Begins the charge of an invoice in the transaction that issues it. Returns undefined if the invoice is not to be charged, or the
 * charge cannot begin in that transaction.
 */
export async function beginCharge(
  work: UnitOfWork,
  invoice: Invoice,
  purchase: Purchase,
  { charge }: Charging,
): Promise<BegunCharge | undefined> {
  if (charge?.begin === undefined || invoice.isHeld || !isChargeable(invoice)) return undefined
  return charge.begin(work, invoice, purchase)
}

function isChargeable(invoice: Invoice): boolean {
  return invoice.status === 'open' && dueMinor(invoice) !== 0n
}

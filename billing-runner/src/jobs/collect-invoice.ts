import type {
  BegunCharge,
  ChargeInvoice,
  ChargeOutcome,
} from '@tollgate/domain/charging/charge-invoice'
import type { RetryDelays } from '@tollgate/domain/billing/decide-retry'
import { settleCharge } from '@tollgate/domain/charging/settle-charge'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ItemOutcome, Turn } from './job.ts'

/** How what is due is collected. */
export type Charging = {
  /** Undefined: there is nobody who could, so invoices are issued and wait. */
  readonly charge: ChargeInvoice | undefined
  readonly delays: RetryDelays
}

/**
 * Charges for an invoice that was issued and committed, and commits what came of it. No transaction is open while the
 * processor is asked. Cut off in between, the charge is asked for again, and for one invoice there is one.
 */
export async function collectInvoice(
  turn: Turn,
  invoice: Invoice,
  { charge, delays }: Charging,
  begun?: BegunCharge,
): Promise<ItemOutcome> {
  const amountMinor = dueMinor(invoice)
  const isCollected = !isOwed(invoice)
  if (!isCollected && (charge === undefined || invoice.isHeld)) return 'postponed'
  const { reference: invoiceRef, customerRef, purchaseRef, currency } = invoice
  const { environment, providerId, now } = turn
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
          (body) => turn.commit(body),
          begun,
        )
  if (outcome.kind === 'booked') return 'done'
  const settled = await turn.commit((work) => settleCharge(work, invoiceRef, outcome, delays))
  return settled === 'settled' ? 'done' : settled === 'open' ? 'postponed' : 'nothing'
}

/** The charge of an invoice that this transaction has issued, where it is to be charged and can begin that soon. */
export async function beginWith(
  work: UnitOfWork,
  invoice: Invoice,
  purchase: Purchase,
  { charge }: Charging,
): Promise<BegunCharge | undefined> {
  if (charge?.begin === undefined || invoice.isHeld || !isOwed(invoice)) return undefined
  return charge.begin(work, invoice, purchase)
}

function isOwed(invoice: Invoice): boolean {
  return invoice.status === 'open' && dueMinor(invoice) !== 0n
}

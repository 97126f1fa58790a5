import { markPastDue } from '../billing/mark-unpaid.ts'
import { listLines } from '../invoices/lines.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyDisputeAccess } from './apply-dispute-access.ts'
import { carryOverTooSmall, requireDebt, isPayable, notPayableReason, payDebt } from './debts.ts'
import { endRefundedChange } from './end-refunded.ts'
import { undeliverable, type PaymentHandler } from './payment-handler.ts'

/** An invoice that charges usage, a change of add-ons or amounts carried over from earlier invoices, and no period. */
export const usage: PaymentHandler = {
  /** A past due purchase continues if none of its other invoices is unpaid. */
  onSucceeded: async (work, payment) => {
    const debt = requireDebt(payment)
    if (!isPayable(debt.invoice, payment.intent)) return undeliverable(notPayableReason)
    return payDebt(work, payment, debt)
  },

  /** After a failed charge the purchase is past due, and after the last one it is suspended. Usage stays owed. */
  onFailed: async (work, failure) => {
    if (failure.kind === 'payment-ended') {
      await carryOverTooSmall(work, failure, requireDebt(failure))
      return
    }
    const { purchase, invoice } = failure.debt
    if (purchase !== undefined) await markPastDue(work, purchase, invoice)
  },

  /**
   * The billed usage was consumed, so the purchase continues. A change of add-ons is undone like a change of plan: the purchase before it
   * becomes active again if it is still paid for.
   */
  onRefunded: async (work, intent, { isReturned }) => {
    if (!isReturned && (await chargesAddOns(work, intent))) await endRefundedChange(work, intent)
  },

  onDisputed: (work, intent, { access }) => applyDisputeAccess(work, intent, access),
}

async function chargesAddOns(
  { sql, providerId }: UnitOfWork,
  { invoiceRef }: PaymentIntent,
): Promise<boolean> {
  if (invoiceRef === null) return false
  const lines = await listLines(sql, providerId, invoiceRef)
  return lines.some(({ inputs }) => inputs.kind === 'proration' && inputs.ofAddOns === true)
}

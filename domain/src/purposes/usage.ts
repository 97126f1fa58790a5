import { markPastDue } from '../billing/mark-unpaid.ts'
import { applyDisputeAccess } from './apply-dispute-access.ts'
import { carryOverTooSmall, requireDebt, isPayable, notPayableReason, payDebt } from './debts.ts'
import { undeliverable, type PaymentHandler } from './payment-handler.ts'

/** An invoice that charges usage or amounts carried over from earlier invoices, and no period. */
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

  /** The billed usage was consumed, so the purchase continues. */
  onRefunded: async () => undefined,

  onDisputed: (work, intent, { access }) => applyDisputeAccess(work, intent, access),
}

import { markPastDue, suspendTrial } from '../billing/mark-unpaid.ts'
import { isPeriodObsolete } from '../billing/apply-paid-invoice.ts'
import { cancelUnbegunPeriod } from '../payments/end-charges.ts'
import { applyDisputeAccess } from './apply-dispute-access.ts'
import { carryOverTooSmall, requireDebt, isPayable, notPayableReason, payDebt } from './debts.ts'
import { endRefundedPeriod } from './end-refunded.ts'
import { undeliverable, type PaymentHandler } from './payment-handler.ts'

/** An invoice that charges a period of a purchase, including the first period after a trial. */
export const renewal: PaymentHandler = {
  /** The period begins. A payment for a period that can no longer begin is refunded. */
  onSucceeded: async (work, payment) => {
    const debt = requireDebt(payment)
    const { invoice, purchase, period } = debt
    const isDropped = purchase !== undefined && isPeriodObsolete(purchase, period)
    // Also if a credit note has changed what is due meanwhile: no later payment would cancel the rest.
    if (isDropped && invoice.status === 'open') await cancelUnbegunPeriod(work, invoice)
    if (!isPayable(invoice, payment.intent)) return undeliverable(notPayableReason)
    if (isDropped) return undeliverable('The purchase does not go on')
    return payDebt(work, payment, debt)
  },

  /**
   * After a failed charge the purchase is past due, and after the last one it is suspended. A trial is suspended at once. Once the
   * payment has ended, charges for a period that will not begin are cancelled.
   */
  onFailed: async (work, failure) => {
    if (failure.kind === 'charge-failed') {
      const { purchase, invoice } = failure.debt
      if (purchase === undefined) return
      if (purchase.status === 'trialing') await suspendTrial(work, purchase, invoice)
      else await markPastDue(work, purchase, invoice)
      return
    }
    const debt = requireDebt(failure)
    const { invoice, purchase, period } = debt
    if (invoice.status !== 'open') return
    const isDropped = purchase !== undefined && isPeriodObsolete(purchase, period)
    const remaining = isDropped ? await cancelUnbegunPeriod(work, invoice) : invoice
    await carryOverTooSmall(work, failure, { ...debt, invoice: remaining })
  },

  /** The purchase ends if the payment was for its newest period and is refunded in full. */
  onRefunded: async (work, intent, { isReturned }) => {
    if (!isReturned) await endRefundedPeriod(work, intent)
  },

  onDisputed: (work, intent, { access }) => applyDisputeAccess(work, intent, access),
}

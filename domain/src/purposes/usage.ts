import { markPastDue } from '../billing/mark-unpaid.ts'
import { moveAccess } from './charge-back.ts'
import { carryOverTooSmall, debtOf, isPayable, notPayable, payDebt } from './debts.ts'
import { undeliverable, type PaymentHandler } from './payment-handler.ts'

/** An invoice that charges usage, or what earlier invoices left, and no period. */
export const usage: PaymentHandler = {
  /** The purchase goes on if it was behind with its payments and nothing else of it is unpaid. */
  onSucceeded: async (work, payment) => {
    const debt = debtOf(payment)
    if (!isPayable(debt.invoice, payment.intent)) return undeliverable(notPayable)
    return payDebt(work, payment, debt)
  },

  /** After a failed charge the purchase is past due, and suspended after the last one. Usage stays owed. */
  onFailed: async (work, failure) => {
    if (failure.kind === 'payment-ended') {
      await carryOverTooSmall(work, failure, debtOf(failure))
      return
    }
    const { purchase, invoice } = failure.debt
    if (purchase !== undefined) await markPastDue(work, purchase, invoice)
  },

  /** Usage that was billed has been used: the purchase goes on. */
  onRefunded: async () => undefined,

  onDisputed: (work, intent, { access }) => moveAccess(work, intent, access),
}

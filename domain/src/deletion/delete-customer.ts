import { removeCustomerAlerts } from '../alerts/repository.ts'
import { removeCustomerBudgets } from '../budgets/repository.ts'
import { removeAutoRecharge } from '../auto-recharge/repository.ts'
import { revokeCustomerTokens } from '../customer-auth/access-tokens.ts'
import { endCustomerSchedules } from '../credit-schedules/repository.ts'
import { removeCard } from '../cards/repository.ts'
import { removeSetups } from '../cards/setups-repository.ts'
import { removeItemsOfCustomer } from '../invoices/items-repository.ts'
import { cancelScheduledCharges } from '../invoices/unpaid.ts'
import { eraseCustomerEmails } from '../emails/emails-repository.ts'
import { eraseCustomerEvents } from '../outbox/repository.ts'
import { unixSeconds } from '../periods/periods.ts'
import { endNow } from '../purchases/move-purchase.ts'
import { eraseCancellationReasons } from '../purchases/purchase-fields-repository.ts'
import { listPurchases, lockPurchase } from '../purchases/repository.ts'
import { endLapsedPurchase } from '../purchases/end-lapsed-purchase.ts'
import { purchaseTransitions } from '../purchases/transitions.ts'
import { endCheckoutSessions } from '../sessions/checkout-sessions.ts'
import { requestCancelOfCustomer } from '../payments/intents-repository.ts'
import { requestProcessorCustomerRemoval } from '../payments/processor-customers-repository.ts'
import { removeCustomerSessions } from '../sessions/customer-sessions.ts'
import { scheduleAnswerErasure } from '../webhooks/answer-erasures.ts'
import { removeTaxDetails } from '../tax/tax-details-repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  eraseCustomer,
  findCustomer,
  lockCustomer,
  releaseExternalRefs,
  isDeletedCustomer,
} from '../customers/repository.ts'

export type DeleteCustomerOutcome = 'deleted' | 'deleted-before' | 'not-found'

/**
 * Ends the customer's purchases, sessions and tokens, and erases the personal data. The own reference stays reserved
 * permanently, because recorded usage and ledger postings contain it. The email address and the external references can
 * be used by other customers from now on. The personal data is also erased from earlier events, and soon afterwards
 * from the stored webhook responses of receivers.
 */
export async function deleteCustomer(
  work: UnitOfWork,
  anyReference: string,
): Promise<DeleteCustomerOutcome> {
  const { sql, providerId, now } = work
  const found = await findCustomer(sql, providerId, anyReference)
  // Transactions that sell to, bill or credit the customer wait for this lock, and then find no customer.
  const customer = found && (await lockCustomer(sql, providerId, found.reference))
  if (customer === undefined) {
    const isDone = await isDeletedCustomer(sql, providerId, anyReference)
    return isDone ? 'deleted-before' : 'not-found'
  }
  const { reference } = customer
  await eraseCancellationReasons(sql, providerId, reference)
  await endPurchases(work, reference)
  await removeCustomerSessions(sql, providerId, reference)
  await endCheckoutSessions(sql, providerId, reference, now)
  await revokeCustomerTokens(sql, providerId, customer, now)
  await removeAutoRecharge(sql, providerId, reference)
  await removeCustomerAlerts(sql, providerId, reference)
  await removeCustomerBudgets(sql, providerId, reference)
  await endCustomerSchedules(sql, providerId, reference, now)
  await removeCard(sql, providerId, reference)
  await removeSetups(sql, providerId, reference)
  await requestCancelOfCustomer(sql, providerId, reference, now)
  await cancelScheduledCharges(sql, providerId, reference, now)
  await removeItemsOfCustomer(sql, providerId, reference, now)
  await requestProcessorCustomerRemoval(sql, providerId, reference, now)
  await eraseCustomerEmails(sql, providerId, customer, now)
  await removeTaxDetails(sql, providerId, reference)
  await eraseCustomer(sql, providerId, reference, now)
  await releaseExternalRefs(sql, providerId, reference, now)
  await eraseCustomerEvents(sql, providerId, reference)
  await scheduleAnswerErasure(sql, providerId, reference, now)
  const created = unixSeconds(customer.createdAt)
  await recordEvent(work, 'customer.deleted', { id: reference, created })
  await queuePublication(work, 'customer', reference)
  return 'deleted'
}

const purchasesPerPage = 500

/**
 * Ends all purchases that have not ended. A purchase that waits for a payment or for the end of its trial would
 * otherwise become active later.
 */
async function endPurchases(work: UnitOfWork, customerRef: string): Promise<void> {
  const { from: statuses } = purchaseTransitions.cancelled
  const filter = { customerRef, statuses, rowsMax: purchasesPerPage }
  const cancelled = { cancelledAt: work.now, cancellationReason: 'The customer was deleted' }
  for (;;) {
    const purchases = await listPurchases(work.sql, work.providerId, filter)
    if (purchases.length === 0) return
    for (const { reference } of purchases) {
      if ((await endLapsedPurchase(work, reference)) !== undefined) continue
      const purchase = await lockPurchase(work.sql, work.providerId, reference)
      if (purchase !== undefined && statuses.includes(purchase.status)) {
        await endNow(work, purchase, 'cancelled', cancelled)
      }
    }
  }
}

import { findCustomer } from '../customers/repository.ts'
import { hasOpenInvoice } from '../invoices/unpaid.ts'
import { hasEndedUnbilled } from '../purchases/purchase-fields-repository.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readBillThreshold } from './bill-threshold.ts'
import { findCrossing, removeCrossing } from './crossings-repository.ts'
import { decideThresholdBill } from './decide-threshold-bill.ts'
import { readUsageToBill, type UsageToBill } from './prepare-usage-bill.ts'

export type PreparedThresholdBill =
  | {
      readonly kind: 'due'
      readonly toBill: UsageToBill
      /** The crossing that requested the bill. */
      readonly version: bigint
    }
  /** The period or the purchase before is not billed yet, or the purchase has an open invoice. The crossing is kept. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'nothing' }

/**
 * Decides whether the running period of a purchase can be billed now, and reads the input for summing up its usage. A crossing that
 * no longer leads to a bill is removed: usage after it is measured again.
 *
 * While an invoice of the purchase is open, no bill is made, so a customer whose card is declined has one debt with one row of
 * retries. What is used by then is billed once the invoice is paid, or at the end of the period.
 */
export async function prepareThresholdBill(
  work: UnitOfWork,
  reference: string,
  lateMs: number,
): Promise<PreparedThresholdBill> {
  const { sql, providerId, now } = work
  const version = await findCrossing(sql, providerId, reference)
  if (version === undefined) return { kind: 'nothing' }
  const purchase = await lockPurchase(sql, providerId, reference)
  const customer = purchase && (await findCustomer(sql, providerId, purchase.customerRef))
  const leastMinor = purchase && (await readBillThreshold(work, purchase))
  const decision = purchase && decideThresholdBill(purchase, now)
  if (
    purchase === undefined ||
    customer === undefined ||
    leastMinor === undefined ||
    decision === undefined ||
    decision.kind === 'nothing'
  ) {
    await removeCrossing(sql, providerId, reference, version)
    return { kind: 'nothing' }
  }
  if (decision.kind === 'wait') return decision
  if (await hasOpenInvoice(sql, providerId, reference)) return { kind: 'wait' }
  // If the change of plan is undone, only a purchase that was billed to its end keeps its usage besides that of this one.
  if (await hasEndedUnbilled(sql, providerId, purchase)) return { kind: 'wait' }
  const { nextUsageBillAt, usageClosesAt } = purchase
  const billingDates = { nextUsageBillAt, usageClosesAt }
  const due = { purchase, period: decision.period, billingDates }
  const toBill = { ...(await readUsageToBill(work, due, lateMs)), leastMinor }
  return { kind: 'due', toBill, version }
}

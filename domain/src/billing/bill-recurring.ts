import { listBilledPeriods } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { createDraft, type InvoiceRequest } from '../invoices/create-draft.ts'
import { readParties, type Seller } from '../invoices/parties.ts'
import { lockInvoice } from '../invoices/repository.ts'
import type { Period } from '../periods/periods.ts'
import { pipelined } from '../postgres/pipelined.ts'
import { recurringLines } from '../pricing/charges.ts'
import { planAt } from '../purchases/offered-plan.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

export type RecurringBill = { readonly invoice: Invoice; readonly isNew: boolean }

/**
 * Returns the issued invoice for the recurring price of the period: the existing invoice, or a new one. The caller has
 * locked the purchase. The invoice stores the purchase's plan snapshot. Throws if the period overlaps a billed period
 * that starts at another time.
 */
export async function billRecurring(
  work: UnitOfWork,
  purchase: Purchase,
  period: Period,
  isFirstCharge: boolean,
  seller: Seller,
): Promise<RecurringBill> {
  const { sql, providerId } = work
  const { reference, customerRef, currency, planSnapshot, productRef } = purchase
  if (planSnapshot === null) throw new Error(`purchase ${reference} has no plan to charge for`)
  const priced = planAt(purchase, planSnapshot, period.start)
  const request: InvoiceRequest = {
    customerRef,
    purchaseRef: reference,
    planSnapshot,
    currency,
    lines: recurringLines(priced, currency, period, isFirstCharge),
    claims: [{ part: 'recurring', period }],
    discountedProductRef: productRef,
  }
  const [made, parties] = await pipelined([
    createDraft(work, request),
    readParties(work, customerRef, productRef, seller),
  ])
  if (made.kind === 'created') {
    return { invoice: await issueInvoice(work, made.invoice, parties), isNew: true }
  }
  const billed = await listBilledPeriods(sql, providerId, reference, 'recurring', 12)
  const same = billed.find(({ start }) => start.getTime() === period.start.getTime())
  const invoice = same && (await lockInvoice(sql, providerId, same.invoiceRef))
  if (invoice === undefined)
    throw new Error(`another invoice charges part of the period of purchase ${reference}`)
  return { invoice, isNew: false }
}

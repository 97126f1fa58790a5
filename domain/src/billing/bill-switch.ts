import { insertPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { staysDraft } from '../invoices/stays-draft.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import type { PlanSwitch } from '../purchases/decide-switch.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readParties, type Seller } from '../invoices/parties.ts'

/**
 * Issues the invoice of a change of plan. Returns undefined if the change costs nothing. A credit, or an amount that is
 * too small to be charged, is carried over to the customer's next invoice.
 */
export async function billSwitch(
  work: UnitOfWork,
  { reference, customerRef, planSnapshot, productRef }: Purchase,
  { lines, currency }: PlanSwitch,
  seller: Seller,
): Promise<InvoiceWithLines | undefined> {
  if (lines.length === 0) return undefined
  // The change claims no period, so lines that cost nothing need not be stored as a draft.
  if (await staysDraft(work, { customerRef, currency }, lines)) return undefined
  const made = await createDraft(work, {
    customerRef,
    purchaseRef: reference,
    planSnapshot,
    currency,
    lines,
    claims: [],
  })
  if (made.kind === 'already-billed') throw new Error(`a change to ${reference} claims no period`)
  const parties = await readParties(work, customerRef, productRef, seller)
  return issueInvoice(work, made.invoice, parties)
}

/**
 * Stores the amounts by which discounts reduce the price of the running period of the new plan, for further changes within the period. A
 * discount that does not apply to the new plan is stored with 0, so that it continues if the customer changes back.
 */
export async function storeSwitchDiscounts(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  { reference }: Purchase,
  { period, discounts = [] }: PlanSwitch,
): Promise<void> {
  const amounts = discounts.map(({ discount, newMinor, elsewhereMinor }) => ({
    ...{ discountRef: discount.reference, amountMinor: newMinor, elsewhereMinor },
  }))
  await insertPeriodDiscounts(sql, providerId, reference, period.start, amounts)
}

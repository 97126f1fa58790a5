import { lockCustomer } from '../customers/repository.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { listPendingItems } from '../invoices/items-repository.ts'
import { readParties, type Seller } from '../invoices/parties.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Issues an invoice of the customer's pending items in each currency, because no other invoice will charge them. */
export async function billItems(
  work: UnitOfWork,
  customerRef: string,
  seller: Seller,
): Promise<void> {
  const { sql, providerId } = work
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) return
  const pending = await listPendingItems(sql, providerId, customerRef)
  for (const currency of new Set(pending.map((item) => item.currency))) {
    const of = { customerRef, purchaseRef: null, planSnapshot: null, currency }
    const draft = await createDraft(work, { ...of, lines: [], claims: [], takesItems: true })
    if (draft.kind !== 'created') throw new Error(`items of ${customerRef} claim no period`)
    await issueInvoice(work, draft.invoice, await readParties(work, customerRef, null, seller))
  }
}

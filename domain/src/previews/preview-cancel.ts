import { listOpenRecurringInvoices } from '../invoices/unpaid.ts'
import { moveOfCancel } from '../purchases/cancel-purchase.ts'
import { decideCancel, type CancelDecision } from '../purchases/decide-cancel.ts'
import { movedPurchase } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import {
  previewInvoices,
  type PreviewAt,
  type PreviewedInvoices,
  type PreviewParts,
} from './preview-invoices.ts'
import type { HeldPurchase } from './preview-purchase.ts'

export type CancelPreview =
  | { readonly kind: 'refused' }
  | ({
      readonly kind: 'cancelled'
      readonly decision: Exclude<CancelDecision, { kind: 'refuse' }>
      /** The purchase after the cancellation. */
      readonly purchase: Purchase
      /** Open invoices for a period that will not begin: what they charge for it is no longer owed. */
      readonly releasedInvoices: readonly string[]
    } & PreviewedInvoices)

/**
 * Returns what a cancellation now would do, and the invoices that follow it. A cancellation pays nothing back: a purchase that is paid
 * for stays until the end of what is paid.
 */
export async function previewCancel(
  parts: PreviewParts,
  at: PreviewAt,
  { purchase, customer }: HeldPurchase,
): Promise<CancelPreview> {
  const decision = decideCancel(purchase, at.now)
  if (decision.kind === 'refuse') return { kind: 'refused' }
  const cancelled =
    decision.kind === 'already-cancelled' ? purchase : cancelledPurchase(purchase, decision, at.now)
  const invoices = await previewInvoices(parts, at, {
    customer,
    purchases: [{ purchase: cancelled }],
  })
  const isOver = decision.kind !== 'already-cancelled' && cancelled.nextBillingDate === null
  const releasedInvoices = isOver ? await readReleased(parts, at, purchase.reference) : []
  return { kind: 'cancelled', decision, purchase: cancelled, releasedInvoices, ...invoices }
}

function cancelledPurchase(
  purchase: Purchase,
  decision: Extract<CancelDecision, { kind: 'end-now' | 'schedule' }>,
  now: Date,
): Purchase {
  const { trigger, change } = moveOfCancel(decision, now, null)
  return movedPurchase(purchase, trigger, change, now)
}

function readReleased(
  { database }: PreviewParts,
  { providerId, environment }: PreviewAt,
  purchaseRef: string,
): Promise<string[]> {
  const rows = database.of(providerId).in(environment)
  return rows.read((sql) => listOpenRecurringInvoices(sql, providerId, purchaseRef))
}

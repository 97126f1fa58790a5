import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { findEndOfPrevious } from './purchase-fields-repository.ts'
import type { Purchase } from './repository.ts'
import { shareAllowance } from './share-allowance.ts'
import { findUnpaidPurchase } from './unpaid-purchase.ts'

export type Predecessor = {
  /** The customer's latest purchase of the product, as it was before it was ended. */
  readonly previous: Purchase | undefined
  /** The same purchase if it gave access until now. */
  readonly replaced: Purchase | undefined
}

/**
 * Returns the new purchase with its link to the purchase before it and its shared allowance. It shares the running allowance unless
 * the full price of the period was charged and no earlier usage is unpaid. Every path that starts a purchase calls this function.
 */
export async function linkToPredecessor(
  { sql, providerId, now }: ReadingAt,
  purchase: Purchase,
  { previous, replaced }: Predecessor,
  isPaidInFull: boolean,
): Promise<Purchase> {
  const unpaid =
    previous === undefined || !isPaidInFull
      ? undefined
      : await findUnpaidPurchase(sql, providerId, previous, now)
  const counted = unpaid ?? previous
  const given = {
    previous: counted,
    endBeforePrevious:
      counted === undefined ? undefined : await findEndOfPrevious(sql, providerId, counted),
    purchase,
    isPaidInFull,
    isUnpaid: unpaid !== undefined,
  }
  const allowance = shareAllowance(given)
  // The windows that the shared allowance includes may not have been published yet, and from now on only this purchase is
  // published.
  const windowsTakenIn = (counted?.windowsTakenIn ?? []).filter(
    ({ into }) => into === allowance?.window,
  )
  return { ...purchase, replaces: replaced?.reference ?? null, allowance, windowsTakenIn }
}

import { isInScope, type Coupon } from '@tollgate/domain/coupons/coupon'
import { findCoupon } from '@tollgate/domain/coupons/coupons-repository'
import { discountLines } from '@tollgate/domain/coupons/discount-lines'
import {
  listDiscountsFor,
  type DiscountedPurchase,
} from '@tollgate/domain/coupons/discounts-repository'
import { findRedemptionFault } from '@tollgate/domain/coupons/redeem-coupon'
import type { IntentDiscount } from '@tollgate/domain/payments/payment-intent'
import { totalOf } from '@tollgate/domain/pricing/invoice-line'
import type { ReadingAt } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import { read, type ReadParts } from '../../access/read.ts'
import type { Checkout } from './checkout.ts'
import { reducedCharge, type NextCharge } from './next-charge.ts'

/** What happens to the discounts of the customer before the charge. */
export type DiscountsBefore = {
  /** The purchase whose discounts continue. Null if there is none. */
  readonly purchaseRef: string | null
  /** The discounts of the invoice that comes before, each of which uses one of its invoices. Default: none. */
  readonly used?: readonly IntentDiscount[]
  /** Whether the plan redeems the entered coupon at its start, and is discounted later. Default: no. */
  readonly redeemsAtStart?: boolean
}

/**
 * Returns the charge less what discounts take off its price, as they are now. Undefined if nothing is left to charge. Discounts of
 * usage are not shown, because the usage is not known.
 */
export async function discountedCharge(
  pages: ReadParts & { readonly clock: Clock },
  { caller, session }: Pick<Checkout, 'caller' | 'session'>,
  next: NextCharge | undefined,
  before: DiscountsBefore,
): Promise<NextCharge | undefined> {
  const { customerRef, productRef, couponRef } = session
  if (next === undefined || productRef === null) return next
  const { plan, currency, priceMinor } = next
  const { purchaseRef } = before
  const sale = { customerRef, productRef, planRef: plan.reference, currency, purchaseRef }
  const { providerId } = caller
  const discounts = await read(pages, caller, async (sql) => {
    const at = { sql, providerId, now: new Date(pages.clock.now()) }
    const running = await listRunning(at, sale, before)
    const coupon = couponRef === null ? undefined : await findCoupon(sql, providerId, couponRef)
    const isLeft = coupon !== undefined && (await isEnteredLeft(at, coupon, sale, before))
    return isLeft ? [...running, { reference: '', coupon }] : running
  })
  const lines = discountLines(priceMinor, discounts).map(({ line }) => line)
  return reducedCharge(next, -totalOf(lines))
}

async function listRunning(
  { sql, providerId }: ReadingAt,
  sale: DiscountedPurchase,
  { used = [] }: DiscountsBefore,
) {
  const usedRefs = new Set(used.map(({ discountRef }) => discountRef))
  const running = await listDiscountsFor(sql, providerId, sale)
  return running.filter(
    ({ reference, invoicesLeft }) =>
      invoicesLeft === null || invoicesLeft > (usedRefs.has(reference) ? 1 : 0),
  )
}

/** Returns whether the coupon that the customer entered discounts the charge too. */
async function isEnteredLeft(
  at: ReadingAt,
  coupon: Coupon,
  sale: DiscountedPurchase,
  { used = [], redeemsAtStart = false }: DiscountsBefore,
): Promise<boolean> {
  if (!isInScope(coupon, sale)) return false
  if (used.some(({ isNew }) => isNew)) {
    return coupon.durationInvoices === null || coupon.durationInvoices > 1
  }
  return redeemsAtStart && (await findRedemptionFault(at, coupon, sale)) === undefined
}

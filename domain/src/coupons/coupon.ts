/** Terms of a discount that customers can have. Only its name, its limits and its end can change. */
export type Coupon = CouponTerms & {
  readonly reference: string
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type CouponTerms = {
  /** What customers type, in upper case. Null if only the provider gives it. */
  readonly code: string | null
  /** Printed on invoices. */
  readonly name: string
  /** Decimal text with at most 2 decimals. Null for a coupon over an amount. */
  readonly percentOff: string | null
  /** Minor units of `currency`. Null for a percentage. */
  readonly amountOffMinor: bigint | null
  /** ISO 4217, upper case. Only invoices in this currency are discounted. Null for a percentage. */
  readonly currency: string | null
  readonly duration: CouponDuration
  /** Number of invoices that it discounts. Null for no end. */
  readonly durationInvoices: number | null
  /** Products in scope. Empty: all. */
  readonly productRefs: readonly string[]
  /** Plans in scope. Empty: all of the products. */
  readonly planRefs: readonly string[]
  /** Null: any number. */
  readonly redemptionsMax: number | null
  readonly redemptionsPerCustomerMax: number | null
  /** Last instant at which it can be redeemed. */
  readonly redeemBy: Date | null
}

export type CouponDuration = 'once' | 'repeating' | 'forever'

/** A coupon that a customer has redeemed. */
export type Discount = {
  readonly reference: string
  readonly coupon: Coupon
  readonly customerRef: string
  /** The purchase whose invoices are discounted. Null: all invoices of the customer. */
  readonly purchaseRef: string | null
  /** Null: no end. */
  readonly invoicesLeft: number | null
  readonly removedAt: Date | null
  /** Name of the actor, as in the audit log. */
  readonly redeemedBy: string
  readonly createdAt: Date
}

/** What an invoice charges for, as far as it decides which coupons discount it. */
export type DiscountedSale = {
  readonly productRef: string
  readonly planRef: string
  readonly currency: string
}

/** Returns whether the coupon discounts invoices for the plan in the currency. */
export function isInScope(
  { productRefs, planRefs, currency }: CouponTerms,
  sale: DiscountedSale,
): boolean {
  if (currency !== null && currency !== sale.currency) return false
  if (planRefs.length > 0) return planRefs.includes(sale.planRef)
  return productRefs.length === 0 || productRefs.includes(sale.productRef)
}

/** Returns the code as it is stored and compared. */
export function normalizedCode(code: string): string {
  return code.trim().toUpperCase()
}

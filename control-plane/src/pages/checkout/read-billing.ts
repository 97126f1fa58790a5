import { readBalanceUse } from '@tollgate/domain/charging/sell-from-balance'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { priceRequest } from '@tollgate/domain/settlement/price-request'
import type { IntentDiscount } from '@tollgate/domain/payments/payment-intent'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import { readTaxTerms } from '@tollgate/domain/invoices/read-tax'
import { paymentLine } from '@tollgate/domain/invoices/taxed-sale'
import { breakDownTax, type TaxBreakdown } from '@tollgate/domain/invoices/tax-breakdown'
import type { TaxDetails } from '@tollgate/domain/tax/tax-details'
import { findTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { readNeededDetails } from '@tollgate/domain/tax-service/needs-tax-details'
import { readAnswered } from '@tollgate/domain/unit-of-work/read-answered'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { read, type ReadParts } from '../../access/read.ts'
import {
  decideBilling,
  billingFromStored,
  type BillingField,
  type BillingForm,
} from './billing-form.ts'
import type { Checkout } from './checkout.ts'
import { discountSums, type SumLine } from './sums.tsx'

/** The form of business details for display. */
export type Billing = {
  readonly form: BillingForm
  readonly known: TaxDetails | undefined
  /** Whether the provider collects taxes, so that the amount depends on the details. */
  readonly isNeeded: boolean
  /** Whether the amount depends on the state of a customer in the US. */
  readonly isStateNeeded: boolean
  /** The field that is invalid. */
  readonly invalidField: BillingField | undefined
  /** Undefined while the form does not contain enough to compute a tax. */
  readonly details: TaxDetails | undefined
}

/** The fields that the customer typed. While the form is incomplete, empty fields are not reported. */
export type TypedBilling = { readonly form: BillingForm; readonly isComplete: boolean }

/** Reads the business details. `typed` is undefined if the form was not sent yet. */
export async function readBilling(
  pages: ReadParts,
  { caller, customer }: Checkout,
  typed: TypedBilling | undefined,
): Promise<Billing> {
  const { providerId } = caller
  const { needed, known } = await read(pages, caller, async (sql) => ({
    needed: await readNeededDetails(sql, providerId),
    known: await findTaxDetails(sql, providerId, customer.reference),
  }))
  const form = typed?.form ?? billingFromStored(known, needed.isStateNeeded)
  const decision = decideBilling(form, known, needed)
  return {
    form,
    known,
    ...needed,
    invalidField:
      decision.kind === 'refuse' && isReported(decision.field, typed) ? decision.field : undefined,
    details: decision.kind === 'accept' ? decision.details : undefined,
  }
}

function isReported(field: BillingField, typed: TypedBilling | undefined): boolean {
  return typed !== undefined && (typed.isComplete || typed.form[field] !== '')
}

export type PricedChoice =
  | {
      readonly kind: 'priced'
      /** Price of the plan after discounts, or the amount that the customer typed, in minor units. */
      readonly priceMinor: bigint
      readonly currency: string
      /** The lines of the discounts, in the order in which the invoice lists them. Their amounts are negative. */
      readonly discounts: readonly SumLine[]
      readonly taken: readonly IntentDiscount[]
      /** Whether one of them is of the coupon that the customer entered. */
      readonly hasEnteredCoupon: boolean
      /** Null while the customer's country is unknown. */
      readonly tax: TaxBreakdown | null
      /** Whole credits that the payment buys. Null if it buys none. */
      readonly credits: bigint | null
      /** The part of the price with tax that the credit of the customer's balance pays, in minor units. */
      readonly creditMinor: bigint
    }
  | {
      readonly kind: 'refused'
      readonly reason: string
      /** Why the coupon cannot be redeemed. Absent if something else is refused. */
      readonly couponFault?: CouponFault
    }

/** Computes the amount of the choice for a customer with the given details. Stores nothing. */
export async function priceChoice(
  pages: ReadParts & { readonly payments: PaymentParts },
  operation: Operation,
  request: PaymentRequest,
  details: TaxDetails | undefined,
): Promise<PricedChoice> {
  const outcome = await priceRequest(pages.payments, operation, request)
  if (outcome.kind === 'refused') return outcome
  if (outcome.kind !== 'priced') return { kind: 'refused', reason: outcome.kind }
  const { plan, terms } = outcome
  const { originalAmountMinor: priceMinor, currency, credits } = terms
  const { discounts: taken = [] } = outcome
  const discounts = discountSums(taken)
  const { providerId } = operation
  const hasEnteredCoupon = taken.some(({ isNew }) => isNew)
  const shown = { discounts, taken, hasEnteredCoupon }
  const priced = { kind: 'priced', priceMinor, currency, credits, ...shown } as const
  const creditFor = (tax: TaxBreakdown | null): Promise<bigint> =>
    read(pages, operation, (sql) =>
      readBalanceUse({ sql, providerId }, request.customer.reference, { ...outcome, tax }),
    )
  if (details === undefined) return { ...priced, tax: null, creditMinor: await creditFor(null) }
  const productRef = request.purpose === 'credit_topup' ? null : (request.productRef ?? null)
  const lines = [paymentLine(plan === undefined ? 'credits' : 'plan', priceMinor)]
  const { reference: customerRef } = request.customer
  const sale = { customerRef, productRef, plan: plan ?? null, currency, lines }
  const { rule, isInclusive } = await readAnswered(pages.payments, operation, (reading) =>
    readTaxTerms(reading, sale, details),
  )
  const tax = breakDownTax(priceMinor, rule, isInclusive)
  return { ...priced, tax, creditMinor: await creditFor(tax) }
}

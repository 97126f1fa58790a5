import type { EntitledCharge, Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { CreditDebit } from '@tollgate/schemas/http/usages'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Outcome } from '@tollgate/schemas/meter-event'
import {
  chargeDebits,
  totalDebitMicros,
  type ChargeDebit,
  type CostingEvent,
} from './charge-debits.ts'
import { entitlementOfPeriod } from './charge-limits.ts'
import { currentPeriod } from './counting-windows.ts'

/** Facts about a usage call that decide whether the customer's wallet is debited. */
export type UsageCall = {
  readonly outcome: Outcome
  readonly meterName: string
  readonly productRef: string | null
  readonly isKnownCustomer: boolean
  /** Entitlement of the customer and the product. Undefined if none is published. */
  readonly entitlement: Entitlement | undefined
  readonly nowMs: number
}

export type DebitDecision =
  /** The response contains no credit fields. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'refused'; readonly creditDebit: Extract<CreditDebit, { debited: false }> }
  /** `customerRef` is the customer's own reference. */
  | { readonly kind: 'due'; readonly customerRef: string; readonly price: UnitPrice }

/** The price of usage in credits: one for each unit of `requests`, or by the charges of the plan. */
export type UnitPrice =
  { readonly creditsPerUnit: number } | { readonly charges: readonly EntitledCharge[] }

/**
 * Decides whether a new usage record is paid from the wallet. The order of the checks decides which reason is returned,
 * so it is part of the API.
 */
export function decideDebit(call: UsageCall): DebitDecision {
  if (call.outcome !== 'success') return silent
  if (call.productRef === null) return noProduct
  if (!call.isKnownCustomer) return unknownCustomer
  const { entitlement } = call
  const period = entitlement && currentPeriod(entitlement, call.nowMs)
  if (entitlement === undefined || period === undefined) return noActivePurchase
  const { customerRef, credit, charges } = entitlementOfPeriod(entitlement, period)
  if (credit !== null && charges !== undefined)
    return { kind: 'due', customerRef, price: { charges } }
  // A plan without charges has a price for one meter only. Other meters that count the same call must not debit it again.
  if (credit === null || call.meterName !== requestsMeterName) {
    return notCreditBased
  }
  return { kind: 'due', customerRef, price: credit }
}

type Reason = Extract<CreditDebit, { debited: false }>['reason']

/* Nearly every usage call gets one of these, so they are not created for each. */
const silent: DebitDecision = { kind: 'silent' }
const noProduct = refused('no_product_ref')
const unknownCustomer = refused('customer_not_found')
const noActivePurchase = refused('no_active_purchase')
const notCreditBased = refused('plan_not_credit_based')

function refused(reason: Reason): DebitDecision {
  return { kind: 'refused', creditDebit: { debited: false, reason } }
}

/** Returns what an event costs in 10^-6 credits. Undefined if no charge applies to it. */
export function dueCredits(price: UnitPrice, event: CostingEvent): DueCredits | undefined {
  if ('creditsPerUnit' in price) {
    return { micros: BigInt(event.value) * BigInt(price.creditsPerUnit), charges: undefined }
  }
  const charges = chargeDebits(price.charges, event)
  return charges.length === 0 ? undefined : { micros: totalDebitMicros(charges), charges }
}

export type DueCredits = {
  readonly micros: bigint
  /** The debit of each charge. Undefined for plans without charges. */
  readonly charges: readonly ChargeDebit[] | undefined
}

import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { CreditDebit } from '@tollgate/schemas/http/usages'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Outcome } from '@tollgate/schemas/meter-event'
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
  /** `customerRef` is the customer's own reference. `creditsPerUnit` is the price of one unit in credits. */
  | { readonly kind: 'due'; readonly customerRef: string; readonly creditsPerUnit: number }

/**
 * Decides whether a new usage record is paid from the wallet. The order of the checks decides which reason is returned,
 * so it is part of the API.
 */
export function decideDebit(call: UsageCall): DebitDecision {
  if (call.outcome !== 'success') return { kind: 'silent' }
  if (call.productRef === null) return refused('no_product_ref')
  if (!call.isKnownCustomer) return refused('customer_not_found')
  const { entitlement } = call
  if (entitlement === undefined || currentPeriod(entitlement, call.nowMs) === undefined) {
    return refused('no_active_purchase')
  }
  // A plan has a price for one meter only. Other meters that count the same call must not debit it again.
  if (entitlement.credit === null || call.meterName !== requestsMeterName) {
    return refused('plan_not_credit_based')
  }
  const { customerRef, credit } = entitlement
  return { kind: 'due', customerRef, creditsPerUnit: credit.creditsPerUnit }
}

type Reason = Extract<CreditDebit, { debited: false }>['reason']

function refused(reason: Reason): DebitDecision {
  return { kind: 'refused', creditDebit: { debited: false, reason } }
}

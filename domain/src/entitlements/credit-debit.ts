import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { CreditDebit } from '@tollgate/schemas/http/usages'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Outcome } from '@tollgate/schemas/meter-event'
import { currentPeriod } from './counting-windows.ts'

/** What is known about a usage call when its wallet is asked for. */
export type UsageCall = {
  readonly outcome: Outcome
  readonly meterName: string
  readonly productRef: string | null
  readonly isKnownCustomer: boolean
  /** Of the customer and the product; undefined when none is published. */
  readonly entitlement: Entitlement | undefined
  readonly nowMs: number
}

export type DebitDecision =
  /** The answer says nothing about credits. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'refused'; readonly creditDebit: Extract<CreditDebit, { debited: false }> }
  /** By the customer's own reference. */
  | { readonly kind: 'due'; readonly customerRef: string; readonly creditsPerUnit: number }

/** Whether a new usage record is to be paid from the wallet. The order of the questions is part of the wire. */
export function decideDebit(call: UsageCall): DebitDecision {
  if (call.outcome !== 'success') return { kind: 'silent' }
  if (call.productRef === null) return refused('no_product_ref')
  if (!call.isKnownCustomer) return refused('customer_not_found')
  const { entitlement } = call
  if (entitlement === undefined || currentPeriod(entitlement, call.nowMs) === undefined) {
    return refused('no_active_purchase')
  }
  // A plan has the price of one meter. What others count of the same call would be paid for twice.
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

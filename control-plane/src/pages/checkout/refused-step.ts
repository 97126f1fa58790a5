import type { Plan } from '@tollgate/domain/plans/plan'
import { freePlanHeldReason, soldOutReason } from '@tollgate/domain/purchases/decide-activation'
import { decideChange } from '@tollgate/domain/purchases/decide-switch'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import type { Checkout } from './checkout.ts'
import type { Choice } from './read-choice.ts'

/** Returns why a plan cannot be started now, and what the customer can do. `reason` is the reason of the decision. */
export function refusedStepText(
  { frame }: Checkout,
  { held }: Choice,
  plan: Plan,
  reason: string,
  now: Date,
): string {
  const { t, formats } = frame
  if (reason === soldOutReason) return t('checkout:planSoldOut')
  if (reason === freePlanHeldReason) return t('checkout:freePlanHeld')
  const asked = { held, plan, isFirstCharge: false, currency: undefined, at: now }
  const decision = decideChange(asked)
  if (decision.kind !== 'too-early') return t('checkout:notOffered')
  const { from, until } = decision
  const values = { plan: from.planSnapshot?.name ?? from.productName, date: formats.date(until) }
  return from.autoRenew && !isEnding(from)
    ? t('checkout:cancelFirst', values)
    : t('checkout:heldUntil', values)
}

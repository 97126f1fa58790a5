import { findPlan } from '../catalog/plans-repository.ts'
import { snapshotOf } from '../plans/plan-snapshot.ts'
import { withoutSetupFee } from '../pricing/plan-prices.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideSchedule, type ChangeTiming, type ScheduleObstacle } from './decide-schedule.ts'
import { lockWithCustomer } from './lock-with-customer.ts'
import { planChangeScheduledObject } from './purchase-event.ts'
import { hasPaidForPlan, type Purchase } from './repository.ts'
import { schedulePlan } from './schedule-plan.ts'
import { withAgreedFee } from './agreed-fee.ts'

export type ScheduledChangeRequest = {
  readonly purchaseRef: string
  /** Another plan of the product, or the plan of the purchase with its current terms. */
  readonly planRef: string
  /** When the change takes effect. Undefined: with the next renewal. */
  readonly effectiveAt: Date | undefined
  readonly billing: ChangeTiming['billing']
}

export type ScheduleChangeOutcome =
  | { readonly kind: 'scheduled'; readonly purchase: Purchase }
  | { readonly kind: 'purchase-not-found' }
  | { readonly kind: 'plan-not-found' }
  | { readonly kind: 'refused'; readonly obstacle: ScheduleObstacle | 'plan_inactive' }

/**
 * Schedules a change of plan of one purchase, in place of an earlier choice. The terms of the plan are those of now. A set-up fee that
 * the customer has not paid before is charged with a prorated change, or with the renewal that begins the plan. A change that keeps
 * the period charges nothing, and later renewals charge no set-up fee, so it has none.
 */
export async function scheduleChange(
  work: UnitOfWork,
  { purchaseRef, planRef, effectiveAt, billing }: ScheduledChangeRequest,
): Promise<ScheduleChangeOutcome> {
  const { sql, providerId, now } = work
  const held = await lockWithCustomer(work, purchaseRef)
  if (held === undefined) return { kind: 'purchase-not-found' }
  const plan = await findPlan(sql, providerId, held.productRef, planRef)
  if (plan === undefined) return { kind: 'plan-not-found' }
  if (plan.status !== 'active') return { kind: 'refused', obstacle: 'plan_inactive' }
  const { customerRef, productRef } = held
  const isPaid = await hasPaidForPlan(sql, providerId, { customerRef, productRef, planRef })
  const snapshot = snapshotOf(plan)
  const notBefore = effectiveAt ?? now
  const decision = decideSchedule(
    held,
    isPaid || planRef === held.planRef || billing === 'keep_period'
      ? withAgreedFee(withoutSetupFee(snapshot), held, notBefore)
      : snapshot,
    { billing, notBefore, termsAt: now },
    now,
  )
  if (decision.kind === 'refused') return decision
  const { change } = decision
  const purchase = await schedulePlan(work, purchaseRef, change)
  if (purchase === undefined) throw new Error(`purchase ${purchaseRef} ended under its lock`)
  const previous = { plan: held.planRef }
  const object = planChangeScheduledObject(held, change)
  await recordEvent(work, 'purchase.plan_change_scheduled', object, previous)
  return { kind: 'scheduled', purchase }
}

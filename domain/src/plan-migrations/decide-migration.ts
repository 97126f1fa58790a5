import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { PlanMigrationInput } from '@tollgate/schemas/http/plan-migrations'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import { isPack } from '../packs/pack-terms.ts'
import { fieldFault } from '../plans/field-fault.ts'
import { renews, type Plan } from '../plans/plan.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { withoutSetupFee } from '../pricing/plan-prices.ts'
import { decideSchedule, type ScheduleDecision } from '../purchases/decide-schedule.ts'
import { withAgreedFee } from '../purchases/agreed-fee.ts'
import type { Purchase } from '../purchases/purchase.ts'
import { noticedFrom, type PlanMigration } from './plan-migration.ts'

/** The terms of a migration that decide what happens to each purchase. */
export type MigrationTerms = Pick<PlanMigration, 'target' | 'billing' | 'noticeDays'>

/** Returns the terms of a migration to the plan, which the request names. */
export function migrationTerms(
  { when, billing = 'prorate', notice }: PlanMigrationInput,
  plan: PlanSnapshot,
): MigrationTerms {
  const within: ChangeBilling | null = when === 'now' ? billing : null
  // The holders have paid a set-up fee, or were never asked for one.
  const target = withoutSetupFee(snapshotOf(plan))
  return { target, billing: within, noticeDays: notice === false ? null : notice }
}

/** Returns why holders cannot be moved to the plan, by the field of the request. Undefined if they can. */
export function targetFault(plan: Plan): ValidationIssue | undefined {
  if (plan.status !== 'active') {
    return fieldFault(['toPlanRef'], `The plan ${plan.reference} is ${plan.status}.`)
  }
  if (isPack(plan) || !renews(plan)) {
    return fieldFault(['toPlanRef'], `The plan ${plan.reference} does not renew.`)
  }
  return undefined
}

export type MoveDecision =
  | ScheduleDecision
  /** The customer or the provider has scheduled another change for the purchase, which stays. */
  | { readonly kind: 'refused'; readonly obstacle: 'change_pending' }

/** Decides what a migration does with a purchase. `termsAt`: when the terms were those of the plan. */
export function decideMove(
  terms: MigrationTerms,
  held: Purchase,
  termsAt: Date,
  now: Date,
): MoveDecision {
  const { target, billing } = terms
  const noticed = noticedFrom(terms, now)
  // A period that has begun and is not charged yet is charged by the terms with which it began.
  const begun = billing === null ? begunAt(held) : undefined
  const notBefore = begun === undefined || noticed > begun ? noticed : new Date(begun.getTime() + 1)
  const timing = { billing: billing ?? undefined, notBefore, termsAt }
  const decision = decideSchedule(held, withAgreedFee(target, held, notBefore), timing, now)
  if (decision.kind === 'schedule' && held.scheduledPlan !== null) {
    return { kind: 'refused', obstacle: 'change_pending' }
  }
  return decision
}

/** Returns the start of a purchase that began with a renewal which is not charged yet. Undefined for other purchases. */
function begunAt({ status, startDate, nextBillingDate }: Purchase): Date | undefined {
  const isUncharged = status === 'active' && nextBillingDate?.getTime() === startDate.getTime()
  return isUncharged ? startDate : undefined
}

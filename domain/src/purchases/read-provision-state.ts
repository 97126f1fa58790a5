import type { Queryable } from '@tollgate/platform/database/database'
import { listDebts } from '../invoices/debts.ts'
import type { Plan } from '../plans/plan.ts'
import { isSoldOut } from '../plans/places.ts'
import { givesAccess } from './access.ts'
import { defaultPlanOf, type ProvisionInput } from './decide-provision.ts'
import { findDecidingPurchase, findLastOfPlan } from './repository.ts'

export type ProvisionQuery = {
  /** The customer's own reference. */
  readonly customerRef: string
  readonly productRef: string
  /** The product's. */
  readonly plans: readonly Plan[]
  readonly now: Date
}

/** What was bought before, as far as it decides. One query where the customer has access, which is nearly always. */
export async function readProvisionState(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef, plans, now }: ProvisionQuery,
): Promise<Pick<ProvisionInput, 'last' | 'lastOfDefault' | 'isSoldOut' | 'hasDebts'>> {
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const nothing = { last, lastOfDefault: undefined, isSoldOut: false, hasDebts: false }
  if (last !== undefined && givesAccess(last, now)) return nothing
  const plan = defaultPlanOf(plans)
  if (plan === undefined) return nothing
  const soldOut = await isSoldOut(sql, providerId, plan, customerRef)
  if (last === undefined) return { ...nothing, isSoldOut: soldOut }
  const { reference: planRef } = plan
  const hasDebts = (await listDebts(sql, providerId, { customerRef, productRef })).length > 0
  // Another plan may have been held since.
  const lastOfDefault = await findLastOfPlan(sql, providerId, { customerRef, productRef, planRef })
  return { last, lastOfDefault, isSoldOut: soldOut, hasDebts }
}

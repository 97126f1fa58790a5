import type { Queryable } from '@tollgate/platform/database/database'
import { listDebts } from '../invoices/debts.ts'
import type { Plan } from '../plans/plan.ts'
import { isSoldOut } from '../plans/sold-out.ts'
import { givesAccess } from './access.ts'
import { defaultPlanOf, type ProvisionInput } from './decide-provision.ts'
import { findDecidingPurchase, findLastOfPlan } from './repository.ts'

export type ProvisionQuery = {
  /** Reference of the customer. */
  readonly customerRef: string
  readonly productRef: string
  /** The plans of the product. */
  readonly plans: readonly Plan[]
  readonly now: Date
}

/**
 * Reads the customer's purchases as far as they decide about the default plan. If the customer has access, which is the usual case,
 * this takes one query.
 */
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
  // The latest purchase of the product may be of another plan.
  const lastOfDefault = await findLastOfPlan(sql, providerId, { customerRef, productRef, planRef })
  return { last, lastOfDefault, isSoldOut: soldOut, hasDebts }
}

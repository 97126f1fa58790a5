import type { Queryable } from '@tollgate/platform/database/database'
import type { Plan } from '../plans/plan.ts'
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
): Promise<Pick<ProvisionInput, 'last' | 'lastOfDefault'>> {
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const planRef = defaultPlanOf(plans)?.reference
  if (last === undefined || planRef === undefined || givesAccess(last, now)) {
    return { last, lastOfDefault: undefined }
  }
  // Another plan may have been held since.
  const lastOfDefault = await findLastOfPlan(sql, providerId, { customerRef, productRef, planRef })
  return { last, lastOfDefault }
}

import type { Queryable } from '@tollgate/platform/database/database'
import { findOverrides } from '../overrides/repository.ts'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import { listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { listDebts } from '../invoices/debts.ts'
import {
  hasPaidForPlan,
  type PlanOfCustomer,
  findDecidingPurchase,
  findLastOfPlan,
} from './repository.ts'
import type { ActivationInput } from './decide-activation.ts'

/** Reads the customer's purchases, overrides, debts and card as far as they decide how the plan starts. */
export async function readActivationState(
  sql: Queryable,
  providerId: string,
  ofPlan: PlanOfCustomer,
): Promise<
  Pick<
    ActivationInput,
    'last' | 'lastOfPlan' | 'isFirstCharge' | 'hasDebts' | 'hasCard' | 'lastDiscounts' | 'overrides'
  >
> {
  const { customerRef, productRef } = ofPlan
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  const lastOfPlan = await findLastOfPlan(sql, providerId, ofPlan)
  const isFirstCharge = lastOfPlan === undefined || !(await hasPaidForPlan(sql, providerId, ofPlan))
  // Only customers who had the product can have debts for it.
  const hasDebts = last !== undefined && (await listDebts(sql, providerId, ofPlan)).length > 0
  const hasCard = (await findReusablePaymentMethod(sql, providerId, customerRef)) !== undefined
  const lastDiscounts =
    last === undefined ? [] : await listPeriodDiscounts(sql, providerId, last.reference)
  const overrides = await findOverrides(sql, providerId, customerRef, productRef)
  return { last, lastOfPlan, isFirstCharge, hasDebts, hasCard, lastDiscounts, overrides }
}

import { listReferences } from '@tollgate/domain/customers/repository'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { userUsage } from '@tollgate/domain/entitlements/usage-view'
import { unixSecond } from '@tollgate/domain/periods/periods'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { entitlementOf } from '@tollgate/domain/purchases/entitlement-of'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import type { AppParts } from '../http/app-parts.ts'
import type { Caller } from '../http/plugins/authentication.ts'
import { read } from '../http/read.ts'

type HeldPurchase = NonNullable<UserInfoResponse['purchase']>

/** The purchase that lets the customer use the product now, with its usage; undefined when there is none. */
export async function heldPurchase(
  parts: AppParts,
  caller: Caller,
  customerRef: string,
  productRef: string,
): Promise<HeldPurchase | undefined> {
  const { environment, providerId } = caller
  const now = new Date(parts.clock.now())
  const { purchase, customerRefs } = await read(parts, caller, async (sql) => ({
    purchase: await findDecidingPurchase(sql, providerId, customerRef, productRef),
    customerRefs: await listReferences(sql, providerId, customerRef),
  }))
  const plan = purchase?.planSnapshot ?? undefined
  if (purchase === undefined || plan === undefined || !givesAccess(purchase, now)) return undefined

  const entitlement = entitlementOf(purchase, customerRefs, now)
  if (entitlement === undefined) return undefined
  const period = purchasePeriodAt(purchase, plan, now)
  const periodStartSecond = unixSecond(period.start)
  const counted = { environment, providerId, productRef, entitlement, periodStartSecond }
  const usedMicros = await parts.usage.read(counted)
  return {
    reference: purchase.reference,
    status: purchase.status,
    productName: purchase.productName,
    planType: plan.type,
    startDate: purchase.startDate.toISOString(),
    endDate: purchase.endDate?.toISOString() ?? null,
    usage: userUsage(plan, usedMicros),
    plan: {
      reference: plan.reference,
      price: plan.priceMinor,
      currency: plan.currency,
      type: plan.type,
      billingCycle: plan.terms.billingCycle ?? null,
      features: plan.terms.features ?? null,
      limits: plan.terms.limits ?? null,
    },
  }
}

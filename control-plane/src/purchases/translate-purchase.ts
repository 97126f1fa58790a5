import { withoutAddOns } from '@tollgate/domain/plans/add-ons'
import { addOnsBody, planSnapshotBody } from '@tollgate/domain/plans/plan-snapshot-body'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type {
  PurchaseBody,
  PurchaseBriefBody,
  PurchaseUsageBody,
} from '@tollgate/schemas/http/purchases'
import type { OverridesBody } from '@tollgate/schemas/http/overrides'
import { overridesToHttp } from './translate-overrides.ts'
import { definedFields } from '../domain/defined-fields.ts'

export function purchaseToHttp(
  purchase: Purchase,
  usage: PurchaseUsageBody | undefined,
): PurchaseBody {
  return {
    ...sharedFields(purchase, usage),
    customerRef: purchase.customerRef,
    customerEmail: purchase.customerEmail,
    productRef: purchase.productRef,
    productName: purchase.productName,
    autoRenew: purchase.autoRenew,
    createdAt: purchase.createdAt.toISOString(),
  }
}

export function purchaseToBrief(
  purchase: Purchase,
  usage: PurchaseUsageBody | undefined,
): PurchaseBriefBody {
  return {
    ...sharedFields(purchase, usage),
    productRef: purchase.productRef,
    productName: purchase.productName,
    ...definedFields({ planRef: purchase.planRef, planType: purchase.planSnapshot?.type }),
  }
}

function scheduledPlanOf(purchase: Purchase) {
  const { scheduledPlan, scheduledPlanAt, nextBillingDate, endedAt } = purchase
  if (scheduledPlan === null || endedAt !== null) return undefined
  const { reference, name, currency } = scheduledPlan
  const { priceMinor: price } = withoutAddOns(scheduledPlan)
  const startDate = (scheduledPlanAt ?? nextBillingDate)?.toISOString()
  const { scheduledBilling: billing, scheduledMigration: migrationRef } = purchase
  const addOns = addOnsBody(scheduledPlan)
  const optional = definedFields({ startDate, billing, migrationRef, addOns })
  return { reference, name, price, currency, ...optional }
}

/** Overrides have no effect on a plan without charges. */
function overridesOf({ overrides = [], planSnapshot }: Purchase): OverridesBody | undefined {
  const current = overrides.at(-1)
  if (current === undefined || planSnapshot?.terms.charges === undefined) return undefined
  const isEmpty = current.charges.length === 0 && current.usageLimits.length === 0
  return isEmpty ? undefined : overridesToHttp(current)
}

function sharedFields(purchase: Purchase, usage: PurchaseUsageBody | undefined) {
  const { planSnapshot } = purchase
  return {
    reference: purchase.reference,
    status: purchase.status,
    startDate: purchase.startDate.toISOString(),
    amount: purchase.amountMinor,
    currency: purchase.currency,
    isRecurring: purchase.isRecurring,
    metadata: purchase.metadata,
    origin: purchase.origin,
    ...definedFields({
      usage,
      // A purchase that has ended shows its actual end, not the planned one.
      endDate: (purchase.endedAt ?? purchase.endDate)?.toISOString(),
      originalAmount: purchase.originalAmountMinor,
      exchangeRate: purchase.exchangeRate === null ? undefined : Number(purchase.exchangeRate),
      planSnapshot: planSnapshot === null ? undefined : planSnapshotBody(planSnapshot),
      overrides: overridesOf(purchase),
      billingCycle: purchase.billingCycle,
      nextBillingDate: purchase.nextBillingDate?.toISOString(),
      paidAt: purchase.paidAt?.toISOString(),
      scheduledPlan: scheduledPlanOf(purchase),
      cancelledAt: purchase.cancelledAt?.toISOString(),
      cancellationReason: purchase.cancellationReason,
    }),
  }
}

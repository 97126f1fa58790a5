import { planSnapshotBody } from '@tollgate/domain/plans/plan-snapshot-body'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type {
  PurchaseBody,
  PurchaseBriefBody,
  PurchaseUsageBody,
} from '@tollgate/schemas/http/purchases'
import { planAfterChange } from '@tollgate/domain/purchases/offered-plan'
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
  const startsAt = scheduledPlanAt ?? nextBillingDate
  const plan =
    startsAt === null ? scheduledPlan : planAfterChange(scheduledPlan, purchase, startsAt)
  const { reference, name, priceMinor: price, currency } = plan
  const startDate = startsAt?.toISOString()
  const { scheduledBilling: billing, scheduledMigration: migrationRef } = purchase
  const optional = definedFields({ startDate, billing, migrationRef })
  return { reference, name, price, currency, ...optional }
}

/** Returns the overrides that have an effect on the plan. Charges and limits have none on a plan without charges. */
function overridesOf({ overrides = [], planSnapshot }: Purchase): OverridesBody | undefined {
  const current = overrides.at(-1)
  if (current === undefined || planSnapshot === null) return undefined
  const { prices, charges, usageLimits, ...shown } = overridesToHttp(current)
  const ofPlan = prices.filter(({ planRef }) => planRef === planSnapshot.reference)
  const limiting =
    planSnapshot.terms.charges === undefined
      ? { charges: [], usageLimits: [] }
      : { charges, usageLimits }
  const all = { ...limiting, prices: ofPlan }
  return Object.values(all).every(({ length }) => length === 0) ? undefined : { ...all, ...shown }
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

import type { UsageSources } from '@tollgate/domain/customers/usage-sources'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { allowedMicros } from '@tollgate/domain/entitlements/allowed-units'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { userUsage } from '@tollgate/domain/entitlements/usage-view'
import { findPackAccount, type PackAccount } from '@tollgate/domain/packs/repository'
import { unixSeconds } from '@tollgate/domain/periods/periods'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { entitlementOf } from '@tollgate/domain/purchases/entitlement-of'
import { findDecidingPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { Queryable } from '@tollgate/platform/database/database'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import type { Clock } from '@tollgate/platform/clock/clock'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import type { CreditConversion } from '@tollgate/domain/pricing/line-inputs'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Caller } from '../access/caller.ts'
import type { CounterParts } from '../limits/read-counters.ts'
import type { PeriodUsage } from '../limits/period-usage.ts'
import { readChargedUsage } from './read-charged-usage.ts'

type HeldPurchase = NonNullable<UserInfoResponse['purchase']>

export type LoadedPurchase = {
  readonly purchase: Purchase | undefined
  readonly customerRefs: readonly string[]
  /** Only for plans with charges, if the currency has a rate. */
  readonly conversion?: CreditConversion | undefined
  /** The customer's packs of the product; undefined if there are none. */
  readonly packs: PackAccount | undefined
}

/**
 * Loads the purchase that decides whether the customer may use the product, and the packs beside it. Most customers have no packs,
 * which costs no statement.
 */
export async function loadDecidingPurchase(
  sql: Queryable,
  { providerId }: Caller,
  { references: customerRefs, hasPacks }: UsageSources,
  held: { readonly customerRef: string; readonly productRef: string },
): Promise<LoadedPurchase> {
  const [purchase, packs] = await Promise.all([
    findDecidingPurchase(sql, providerId, held.customerRef, held.productRef),
    hasPacks ? findPackAccount(sql, providerId, held) : undefined,
  ])
  // Only charges show what they cost.
  if (purchase?.planSnapshot?.terms.charges === undefined) return { purchase, customerRefs, packs }
  const { currency } = purchase
  const rate = await findExchangeRate(sql, providerId, currency)
  const conversion = rate && { currency, unitsPerDollar: rate.unitsPerDollar }
  return { purchase, customerRefs, packs, conversion }
}

/** Returns the loaded purchase with its usage, or undefined if it does not give access. */
export async function presentHeldPurchase(
  parts: ChargedUsageParts & { readonly clock: Clock; readonly usage: PeriodUsage },
  caller: Caller,
  { purchase, customerRefs, packs, conversion }: LoadedPurchase,
): Promise<HeldPurchase | undefined> {
  const { environment, providerId } = caller
  const now = new Date(parts.clock.now())
  const plan = purchase?.planSnapshot ?? undefined
  if (purchase === undefined || plan === undefined || !givesAccess(purchase, now)) return undefined

  const entitlement = entitlementOf(purchase, customerRefs, now, packs)
  if (entitlement === undefined) return undefined
  const period = purchasePeriodAt(purchase, plan, now)
  const periodStartSecond = unixSeconds(period.start)
  const { productRef } = purchase
  const nowMs = now.getTime()
  const counted = { environment, providerId, productRef, entitlement, periodStartSecond, nowMs }
  const used = await parts.usage.read(counted, requestsMeterName)
  return {
    reference: purchase.reference,
    status: purchase.status,
    productName: purchase.productName,
    planType: plan.type,
    startDate: purchase.startDate.toISOString(),
    endDate: purchase.endDate?.toISOString() ?? null,
    usage: {
      ...userUsage(
        plan,
        used,
        allowedMicros(
          entitlement,
          { startSecond: periodStartSecond },
          used.carriedOverMicros,
          used.packs,
        ),
      ),
      ...(await readChargedUsageOrNone(parts, caller, {
        ...{ purchase, customerRefs, packs, at: now, conversion },
      })),
    },
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

type ChargedUsageParts = Pick<CounterParts, 'hotState' | 'partitionCount'> & {
  readonly logger: Logger
}

/** While hot state cannot be read, the purchase is shown without the usage of its charges. */
async function readChargedUsageOrNone(
  parts: ChargedUsageParts,
  caller: Caller,
  shown: Parameters<typeof readChargedUsage>[2],
): ReturnType<typeof readChargedUsage> {
  try {
    return await readChargedUsage(parts, caller, shown)
  } catch (error) {
    parts.logger.warn({ err: error }, 'a purchase is shown without the usage of its charges')
    return undefined
  }
}

import type { WatchedValue } from '@tollgate/domain/alerts/watched-value'
import { measureSpend } from '@tollgate/domain/billing/measure-spend'
import { partitionsOf } from '@tollgate/domain/billing/measure-usage'
import type { Budget, SpendReading } from '@tollgate/domain/budgets/budget'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import type { PackAccount } from '@tollgate/domain/packs/repository'
import type { CreditConversion } from '@tollgate/domain/pricing/line-inputs'
import { storedSoFar } from '@tollgate/domain/stored-usage/stored-up-to'
import { windowId } from '@tollgate/schemas/hot-state/documents'
import { usageTopic } from '@tollgate/schemas/topics'
import type { IncludedParts } from './included-usage.ts'
import { ofPeriod, type WatchContext } from './read-limit-values.ts'
import type { WatchedPurchasePeriod } from './watched-periods.ts'

export type SpendFacts = {
  readonly budget: Budget | undefined
  readonly endOfPrevious: Date | undefined
  readonly packs: PackAccount | undefined
  readonly conversion: CreditConversion
}

/** Measures what the usage of a period has cost so far. */
export async function readSpend(
  parts: IncludedParts,
  { environment, providerId, now }: WatchContext,
  { purchase, entitlement, period }: WatchedPurchasePeriod,
  { endOfPrevious, packs, conversion }: SpendFacts,
): Promise<SpendReading> {
  const { customerRefs } = entitlement
  // Billing applies the customer's overrides to the plan as it was sold.
  const plan = purchase.planSnapshot!
  const partitionCount = parts.eventLog.partitionCount(usageTopic(environment))
  const partitions = partitionsOf(providerId, customerRefs, partitionCount)
  const stored = await storedSoFar(parts, environment, partitions, () => now)
  const periodStart = new Date(period.startSecond * 1_000)
  const periodEnd = new Date(period.endSecond * 1_000)
  const measured = { ...purchasePeriodAt(purchase, plan, periodStart), end: periodEnd }
  const facts = { endOfPrevious, customerRefs, packs, conversion }
  const spend = { purchase, plan, period: measured, ...facts }
  return {
    customerRef: purchase.customerRef,
    productRef: purchase.productRef,
    purchaseRef: purchase.reference,
    periodStart,
    periodEnd,
    spentMinor: await measureSpend(parts, environment, providerId, spend, stored),
    currency: conversion.currency,
    measuredAt: now,
  }
}

/** Returns the values that alerts on spend and the customer's budget compare. */
export function spendValues(
  watched: WatchedPurchasePeriod,
  { spentMinor, currency }: SpendReading,
  budget: Budget | undefined,
): WatchedValue[] {
  const { purchase, period } = watched
  const whole = budget?.currency === currency ? BigInt(budget.amountMinor) : null
  const spend = {
    ...ofPeriod(watched),
    // The cost is that of this purchase, also if its limits share the counters of an earlier one.
    period: {
      ...ofPeriod(watched).period,
      id: windowId(purchase.reference, period.startSecond),
    },
    watches: 'spend',
    limitKey: null,
    meterName: null,
    unit: 'minor',
    currency,
    value: spentMinor,
    whole,
    subject: currency,
    size: String(whole),
  } as const
  return whole === null ? [spend] : [spend, { ...spend, watches: 'budget' }]
}

import { periodOf, wholeSecond, type CycleMode } from '@tollgate/domain/periods/periods'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { costsSomething, usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import { renews } from '@tollgate/domain/plans/plan'
import type { PlanSnapshot } from '@tollgate/domain/purchases/plan-snapshot'
import type { Reader } from '../reader.ts'

/** What is charged when a period ends. */
export type NextCharge = {
  readonly at: Date
  /** The price of the next period, in minor units, without a tax that is added to it; 0n: none. */
  readonly priceMinor: bigint
  readonly currency: string
  /** Whether usage of the period that has ended is billed too. */
  readonly hasUsage: boolean
}

/** Returns what a plan charges at the end of its period; undefined if that is nothing. `at` is undefined without periods. */
export function nextChargeOf(
  plan: PlanSnapshot,
  currency: string,
  at: Date | undefined,
): NextCharge | undefined {
  if (at === undefined) return undefined
  const billed = usageTermsOf(plan)
  const hasUsage = billed !== undefined && costsSomething(billed)
  const priceMinor = renews(plan) ? (pricesIn(plan, currency)?.priceMinor ?? 0n) : 0n
  return priceMinor === 0n && !hasUsage ? undefined : { at, priceMinor, currency, hasUsage }
}

/** Returns what a plan charges when its trial ends, the set-up fee included; undefined if that is nothing. */
export function chargeAfterTrial(
  plan: PlanSnapshot,
  currency: string,
  at: Date,
): NextCharge | undefined {
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(plan, currency) ?? {}
  const firstMinor = priceMinor + setupFeeMinor
  return firstMinor === 0n ? undefined : { at, priceMinor: firstMinor, currency, hasUsage: false }
}

/** Returns the end of the first period of a plan that starts now; undefined for a plan without periods. */
export function firstPeriodEnd(
  { type, terms }: Pick<PlanSnapshot, 'type' | 'terms'>,
  mode: CycleMode,
  now: Date,
): Date | undefined {
  const { billingCycle, billingCycleDays: customDays } = terms
  if (type === 'one-time' || billingCycle === undefined) return undefined
  return periodOf({ anchor: wholeSecond(now), billingCycle, mode, customDays }, 0).end
}

/** Returns the charge in words: `$49.00 on Apr 20, 2026`. `isPlusTax`: a tax is added to the price. */
export function chargeWords(
  { at, priceMinor, currency, hasUsage }: NextCharge,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
  isPlusTax = false,
): string {
  const date = formats.date(at)
  if (priceMinor === 0n) return t('checkout:chargeOfUsage', { date })
  const amount = formats.money(priceMinor, currency)
  if (hasUsage) return t('checkout:chargeWithUsage', { amount, date })
  return t(isPlusTax ? 'checkout:chargePlusTax' : 'checkout:charge', { amount, date })
}

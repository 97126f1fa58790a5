import { ensureLimitMeter } from '../meters/create-meter.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PlanContext } from './draft-plan.ts'
import type { Plan } from '../plans/plan.ts'

/** Reads the context for creating or changing plans of the provider. `plans` are the plans that may be changed. */
export async function readPlanContext(
  work: UnitOfWork,
  defaultCurrency: string,
  plans: readonly Pick<Plan, 'currency'>[],
): Promise<PlanContext> {
  const { reference: requestsMeterRef } = await ensureLimitMeter(work)
  const rates = new Map<string, string>()
  for (const currency of new Set([defaultCurrency, ...plans.map((plan) => plan.currency)])) {
    const rate = await findExchangeRate(work.sql, work.providerId, currency)
    if (rate !== undefined) rates.set(currency, rate.unitsPerDollar)
  }
  return { defaultCurrency, requestsMeterRef, rates }
}

import { recordsUnpriced } from '../model-costs/records-unpriced.ts'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Charge } from '@tollgate/schemas/http/charges'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Pack } from '@tollgate/schemas/http/packs'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import { findMeterByName, listMeters, lockMetersByName, type Meter } from '../meters/repository.ts'
import { ensureLimitMeter } from '../meters/create-meter.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { ChargeableMeters } from './charge-faults.ts'
import type { PlanContext } from './draft-plan.ts'
import type { Plan } from '../plans/plan.ts'

/**
 * Reads the context for creating or changing plans of the provider. `plans` are the plans that may be changed, and `inputs` the
 * requests. The meters of their charges are locked, so that none is archived before the plan is stored.
 */
export async function readPlanContext(
  work: UnitOfWork,
  defaultCurrency: string,
  plans: readonly Pick<Plan, 'currency' | 'terms'>[],
  inputs: readonly Charging[] = [],
): Promise<PlanContext> {
  const { reference: requestsMeterRef } = await ensureLimitMeter(work)
  const { sql, providerId } = work
  const rates = await readRates(work, defaultCurrency, plans)
  const meters = await lockChargedMeters(sql, providerId, termsOf(plans, inputs))
  return { defaultCurrency, requestsMeterRef, rates, meters }
}

/** Reads the same context without a lock, for a change that is not made. */
export async function readPlanContextUnlocked(
  { sql, providerId }: ProviderSql,
  defaultCurrency: string,
  plans: readonly Pick<Plan, 'currency' | 'terms'>[],
  inputs: readonly Charging[],
): Promise<PlanContext> {
  const requests = await findMeterByName(sql, providerId, requestsMeterName)
  const rates = await readRates({ sql, providerId }, defaultCurrency, plans)
  const names = meterNamesOf(termsOf(plans, inputs))
  const meters = (await listMeters(sql, providerId)).filter(({ name }) => names.has(name))
  // A provider without the meter gets it with the change.
  const requestsMeterRef = requests?.reference ?? ''
  return { defaultCurrency, requestsMeterRef, rates, meters: chargeableMeters(meters) }
}

type ProviderSql = { readonly sql: Queryable; readonly providerId: string }

async function readRates(
  { sql, providerId }: ProviderSql,
  defaultCurrency: string,
  plans: readonly Pick<Plan, 'currency'>[],
): Promise<Map<string, string>> {
  const rates = new Map<string, string>()
  for (const currency of new Set([defaultCurrency, ...plans.map((plan) => plan.currency)])) {
    const rate = await findExchangeRate(sql, providerId, currency)
    if (rate !== undefined) rates.set(currency, rate.unitsPerDollar)
  }
  return rates
}

function termsOf(
  plans: readonly Pick<Plan, 'terms'>[],
  inputs: readonly Charging[],
): readonly Charging[] {
  return [...inputs, ...plans.map((plan) => plan.terms)]
}

type Charging = {
  readonly charges?: readonly Charge[] | undefined
  readonly usageLimits?: readonly UsageLimit[] | undefined
  readonly pack?: Pack | undefined
}

/** Locks and returns the meters that charges, limits and packs name, so that none is archived before the plans are stored. */
export async function lockChargedMeters(
  sql: Queryable,
  providerId: string,
  terms: readonly Charging[],
): Promise<ChargeableMeters> {
  const names = meterNamesOf(terms)
  if (names.size === 0) return new Map()
  return chargeableMeters(await lockMetersByName(sql, providerId, [...names]))
}

function meterNamesOf(terms: readonly Charging[]): ReadonlySet<string> {
  return new Set(
    terms.flatMap(({ charges = [], usageLimits = [], pack }) => [
      ...[...charges, ...usageLimits].map(({ meter }) => meter),
      ...(pack?.meter === undefined ? [] : [pack.meter]),
    ]),
  )
}

function chargeableMeters(meters: readonly Meter[]): ChargeableMeters {
  return new Map(
    meters.map(({ name, status, aggregation, reads }) => {
      // Only meters that read events store values with their records.
      const dimensions = reads?.reading.dimensions ?? []
      const modelCost = reads?.reading.modelCost
      const mayBeUnpriced = modelCost !== undefined && recordsUnpriced(modelCost)
      return [name, { status, aggregation, dimensions, mayBeUnpriced }]
    }),
  )
}

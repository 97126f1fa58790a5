import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Charge } from '@tollgate/schemas/http/charges'
import { chargeKey } from '../plans/charge-key.ts'
import type { PlanCore } from '../plans/plan.ts'
import {
  chargeCosts,
  chargeRollOverMicros,
  chargeTermsOf,
  isChargeTerms,
  type ChargeTerms,
} from './charge-terms.ts'
import { rollOverLimitMicros } from './roll-over.ts'
import { billsAfterwards, costsSomething, usageTermsOf, type UsageTerms } from './usage-terms.ts'

/** A price for usage of one meter that invoices charge after the period has ended. */
export type BilledCharge = {
  /** Null for the usage of a plan without charges. */
  readonly key: string | null
  /** Name for people; null for the usage of a plan without charges. */
  readonly name: string | null
  readonly meterName: string
  /** Only records with one of these values of their dimensions are charged. */
  readonly where?: NonNullable<Charge['where']>
  readonly terms: UsageTerms | ChargeTerms
  /** Units of a period that are carried over to the next one if unused, 10^-6; undefined for none. */
  readonly rollOverMicros: bigint | undefined
}

/**
 * Returns everything for which usage of the plan is billed, in the order of the invoice lines. A plan without charges has one
 * charge, on `requests`. Empty if usage is not billed, or is paid from the wallet.
 */
export function billedCharges(plan: PlanCore): BilledCharge[] {
  const { charges } = plan.terms
  if (charges !== undefined) {
    return billsAfterwards(plan) ? chargesWithPrices(charges) : []
  }
  const terms = usageTermsOf(plan)
  if (terms === undefined) return []
  const rollOverMicros = rollOverLimitMicros(plan)
  return [{ key: null, name: null, meterName: requestsMeterName, terms, rollOverMicros }]
}

/** Returns whether the plan has usage that is billed afterwards, even if it costs nothing. */
export function billsUsage(plan: PlanCore): boolean {
  return billedCharges(plan).length > 0
}

/** Returns whether the plan can charge for usage afterwards. */
export function chargesUsageLater(plan: PlanCore): boolean {
  return billedCharges(plan).some(({ terms }) =>
    isChargeTerms(terms) ? chargeCosts(terms) : costsSomething(terms),
  )
}

/** Returns the charges that price usage, whether a wallet or an invoice pays it. */
export function chargesWithPrices(charges: readonly Charge[]): BilledCharge[] {
  return charges.flatMap((charge) => billedCharge(charge))
}

/** A charge without a price only caps usage, and has no line. */
function billedCharge(charge: Charge): BilledCharge[] {
  const terms = chargeTermsOf(charge)
  if (terms === undefined) return []
  const key = chargeKey(charge)
  return [
    {
      key,
      name: charge.displayName ?? key,
      meterName: charge.meter,
      ...(charge.where === undefined ? {} : { where: charge.where }),
      terms,
      rollOverMicros: chargeRollOverMicros(charge),
    },
  ]
}

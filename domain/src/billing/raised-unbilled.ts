import { quantityMax } from '@tollgate/schemas/limits'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { isChargeTerms } from '../pricing/charge-terms.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { picoCreditsOf } from '../pricing/price-line.ts'
import { priceUsage } from '../pricing/price-usage.ts'
import { unitsWithinAmount } from '../pricing/unbilled-units.ts'
import { unitsOfCharge, unitsWithLate } from '../pricing/units-of-charge.ts'
import type { RaisedUnbilled } from '../purchases/purchase.ts'

/**
 * Returns the limit of unbilled usage for the rest of a period that is billed in part: the units that cost at most `maxUnbilledMinor`
 * more than the billed ones. Units that packs paid for are not among them, because limit checks add those. Undefined if the plan has
 * no such limit, as plans with charges.
 */
export function raisedUnbilled(
  plan: PlanSnapshot,
  periodStart: Date,
  lines: readonly InvoiceLine[],
  planConversion: CreditConversion,
): RaisedUnbilled | undefined {
  const { maxUnbilledMinor = 0 } = plan.terms
  const line = lines.find(({ period }) => period?.start.getTime() === periodStart.getTime())
  const inputs = line?.inputs
  if (maxUnbilledMinor === 0 || (inputs?.kind !== 'usage' && inputs?.kind !== 'late_usage')) {
    return undefined
  }
  const { terms } = inputs
  if (isChargeTerms(terms)) return undefined
  const units = inputs.kind === 'usage' ? unitsOfCharge(inputs) : unitsWithLate(inputs)
  const { usedMicros, usedBeforeMicros = 0n, packMicros = 0n, carriedOverMicros } = units
  const counted = usedBeforeMicros + usedMicros - packMicros
  const billedPicos = priceUsage(terms, { usedMicros: counted, carriedOverMicros })
  const { numerator, denominator } = picoCreditsOf(BigInt(maxUnbilledMinor), planConversion)
  const amount = { numerator: numerator + billedPicos * denominator, denominator }
  const micros = unitsWithinAmount(terms, amount)
  const mostMicros = BigInt(microsFromNumber(quantityMax)!)
  return {
    periodStart,
    micros: micros === undefined || micros > mostMicros ? mostMicros : micros,
  }
}

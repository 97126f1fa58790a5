import { microsOfDecimal } from '../money/decimal.ts'
import { planToBill } from '../overrides/overridden-plan.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import { unusedMicros } from '../pricing/roll-over.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { PreviewedInvoice } from './price-invoices.ts'

/** Unused units of a meter that the next period would have had, 10^-6. */
export type LostUnits = { readonly meterName: string; readonly micros: bigint }

/** Returns the units that a purchase would have carried over to its next period, by the usage lines of its last bill. */
export function listLostUnits(
  ended: Purchase,
  invoices: readonly Pick<PreviewedInvoice, 'purchaseRef' | 'lines'>[],
): LostUnits[] {
  const { planSnapshot: plan, reference, endedAt } = ended
  if (plan === null || endedAt === null) return []
  const lines = invoices.flatMap((invoice) =>
    invoice.purchaseRef === reference ? invoice.lines : [],
  )
  return lines.flatMap(({ inputs, period }) => {
    if (inputs.kind !== 'usage' || period?.end.getTime() !== endedAt.getTime()) return []
    const charges = billedCharges(planToBill(plan, ended, period))
    const charge = charges.find(({ key }) => key === (inputs.charge ?? null))
    if (charge?.rollOverMicros === undefined) return []
    const used = microsOfDecimal(inputs.usedUnits) + microsOfDecimal(inputs.usedBeforeUnits ?? '0')
    const micros = unusedMicros(charge.rollOverMicros, used)
    return micros === 0n ? [] : [{ meterName: charge.meterName, micros }]
  })
}

import type { UsageToPrice } from '../billing/usage-lines.ts'
import type { MeasuredSpan } from '../billing/measure-packs.ts'
import { planToBill } from '../overrides/overridden-plan.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { unitsCounted, type PreviewedUsage } from '../pricing/preview-price.ts'
import type { Purchase } from '../purchases/repository.ts'

/** Usage of a whole period that a preview assumes in place of the recorded usage. Other meters keep what was recorded. */
export type AssumedUsage = {
  readonly purchaseRef: string
  readonly periodStart: Date
  readonly usage: readonly PreviewedUsage[]
}

/** Returns the measured usage of a bill with the assumed units in place of those of the named meters. */
export function assumeUsage(
  purchase: Purchase,
  measured: UsageToPrice,
  period: ChargedPeriod | undefined,
  assumed: AssumedUsage | undefined,
): UsageToPrice {
  const { planSnapshot: plan } = purchase
  if (assumed === undefined || period === undefined || plan === null) return measured
  if (!isOf(assumed, purchase, period)) return measured
  const charges = new Map(
    billedCharges(planToBill(plan, purchase, period)).map((charge) => [charge.key, charge]),
  )
  return measured.map((usage) => {
    const charge = charges.get(usage.key)
    if (charge === undefined || !namesMeter(assumed, charge.meterName)) return usage
    const { usedMicros, rowMicros } = unitsCounted(charge, assumed.usage)
    const units = { usedMicros, ...(rowMicros === undefined ? {} : { rowMicros }) }
    const { current, earlier } = usage
    return {
      ...usage,
      current: current && { ...current, ...units },
      // A period that was billed in part is among the earlier ones.
      earlier: earlier.map((each) =>
        each.period.start.getTime() === period.start.getTime() ? { ...each, ...units } : each,
      ),
    }
  })
}

/** Returns the usage above a plan's units with the assumed units. Packs count whole meters. */
export function assumeSpan(
  purchase: Purchase,
  measured: MeasuredSpan,
  period: ChargedPeriod,
  assumed: AssumedUsage | undefined,
): MeasuredSpan {
  if (assumed === undefined || !isOf(assumed, purchase, period)) return measured
  return new Map(
    [...measured].map(([meterName, span]) => {
      if (!namesMeter(assumed, meterName)) return [meterName, span] as const
      const { usedMicros } = unitsCounted({ meterName, terms: noTerms }, assumed.usage)
      return [meterName, { ...span, usedMicros }] as const
    }),
  )
}

const noTerms = {
  ...{ limit: null, freeUnits: '0' },
  rate: { kind: 'flat', creditsPerUnit: '0' },
} as const

function isOf(
  { purchaseRef, periodStart }: AssumedUsage,
  { reference }: Purchase,
  { start }: ChargedPeriod,
): boolean {
  return purchaseRef === reference && periodStart.getTime() === start.getTime()
}

function namesMeter({ usage }: AssumedUsage, meterName: string): boolean {
  return usage.some(({ meter }) => meter === meterName)
}

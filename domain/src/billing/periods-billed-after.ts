import type { BilledUsage } from '../invoices/sum-billed-usage.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import type { ChargeUsage, usageBillLines, UsageToPrice } from './usage-lines.ts'

/** Returns all periods that are billed after this bill, newest first. */
export function periodsBilledAfter(
  usage: UsageToPrice,
  lines: ReturnType<typeof usageBillLines>,
): UsageToBill['earlier'] {
  const billed = usage.map((charge) => chargeBilledAfter(charge, lines))
  return (billed[0] ?? []).map(({ period }, at) => ({
    ...period,
    billed: new Map(usage.map(({ key }, index) => [key, billed[index]![at]!.billed])),
  }))
}

type BilledPeriodOfCharge = { readonly period: ChargedPeriod; readonly billed: BilledUsage }

function chargeBilledAfter(
  { key, current, earlier }: ChargeUsage,
  lines: ReturnType<typeof usageBillLines>,
): BilledPeriodOfCharge[] {
  const rebilled = earlier.map(({ period, billed, ...used }) => {
    const line = lineOf(lines, key, period)
    const amountMinor = (billed.amountMinor ?? 0n) + (line?.amountMinor ?? 0n)
    const carriedOverMicros = billed.carriedOverMicros + (line?.lateCarriedOverMicros ?? 0n)
    return { period, billed: { ...billed, ...used, amountMinor, carriedOverMicros } }
  })
  if (current === undefined) return rebilled
  const { period, ...used } = current
  const { carriedOverMicros = 0n, amountMinor = 0n, conversion } = lineOf(lines, key, period) ?? {}
  return [{ period, billed: { ...used, carriedOverMicros, amountMinor, conversion } }, ...rebilled]
}

/** Returns what the line of a charge for a period says. Undefined if the bill has none. */
function lineOf(
  lines: ReturnType<typeof usageBillLines>,
  key: string | null,
  { start }: ChargedPeriod,
) {
  for (const { inputs, period, amountMinor } of lines) {
    if (inputs.kind !== 'usage' && inputs.kind !== 'late_usage') continue
    if ((inputs.charge ?? null) !== key || period?.start.getTime() !== start.getTime()) continue
    const lateCarried = inputs.kind === 'late_usage' ? inputs.lateCarriedOverUnits : undefined
    return {
      amountMinor,
      conversion: inputs.conversion,
      carriedOverMicros: microsOfDecimal(inputs.carriedOverUnits),
      lateCarriedOverMicros: microsOfDecimal(lateCarried ?? '0'),
    }
  }
  return undefined
}

import type { BilledUsage } from '../invoices/sum-billed-usage.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import { totalOf, type ChargedPeriod } from '../pricing/invoice-line.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import type { ChargeUsage, usageBillLines, UsageToPrice } from './usage-lines.ts'

/** Returns all periods that are billed after this bill, newest first. `lines`: of usage and of minimums. */
export function periodsBilledAfter(
  usage: UsageToPrice,
  lines: ReturnType<typeof usageBillLines>,
  before: UsageToBill['earlier'],
): UsageToBill['earlier'] {
  const billed = usage.map((charge) => chargeBilledAfter(charge, lines))
  return (billed[0] ?? []).map(({ period }, at) => ({
    ...period,
    billed: new Map(usage.map(({ key }, index) => [key, billed[index]![at]!.billed])),
    minimumMinor: minimumAfter(period, lines, before),
  }))
}

/** Returns what is charged for the minimum of a period after this bill. */
function minimumAfter(
  { start }: ChargedPeriod,
  lines: ReturnType<typeof usageBillLines>,
  before: UsageToBill['earlier'],
): bigint {
  const isSame = (other: Date | undefined): boolean => other?.getTime() === start.getTime()
  const own = lines.filter(
    ({ inputs, period }) => inputs.kind === 'minimum' && isSame(period?.start),
  )
  return totalOf(own) + (before.find((each) => isSame(each.start))?.minimumMinor ?? 0n)
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

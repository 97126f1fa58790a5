import type { Queryable } from '@tollgate/platform/database/database'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { readCreditConversion } from '../billing/bill-usage.ts'
import { decideFinalBills, type FinalBill } from '../billing/decide-final-bill.ts'
import { measureUsage, type MeasuringParts } from '../billing/measure-usage.ts'
import { readUsageToBill, type UsageToBill } from '../billing/prepare-usage-bill.ts'
import { usageBillLines, type UsageToPrice } from '../billing/usage-lines.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'

/** Usage of one purchase that is not invoiced yet, with the input for its bill. */
export type UnbilledUsage = {
  readonly toBill: UsageToBill
  readonly measured: UsageToPrice
  /** Minor units of the purchase's currency, without tax. The sum over all bills of a purchase may not be 0. */
  readonly amountMinor: bigint
}

type ReadBill = { readonly bill: FinalBill; readonly toBill: UsageToBill }

/** The final bills of several purchases, in the order in which they are made. */
export type ReadFinalBills = {
  readonly bills: readonly (readonly ReadBill[])[]
  readonly conversions: ReadonlyMap<string, CreditConversion>
}

export async function readFinalBills(
  sql: Queryable,
  { providerId, now }: Pick<Operation, 'providerId' | 'now'>,
  purchases: readonly Purchase[],
): Promise<ReadFinalBills> {
  const bills: ReadBill[][] = []
  const conversions = new Map<string, CreditConversion>()
  for (const purchase of purchases) {
    const own: ReadBill[] = []
    for (const bill of decideFinalBills(purchase, now)) {
      const toBill = await readUsageToBill({ sql, providerId }, bill, timestampPastMsMax)
      // Late usage only exists for periods that were billed before.
      if (bill.period !== undefined || toBill.earlier.length > 0) own.push({ bill, toBill })
    }
    if (own.length === 0) continue
    bills.push(own)
    const { currency } = purchase
    conversions.set(currency, await readCreditConversion({ sql, providerId }, currency))
  }
  return { bills, conversions }
}

/**
 * Sums up the usage of the bills from the raw records. Purchases whose bills charge nothing are left out.
 *
 * Throws UsageBehindError while the usage store does not contain all usage that was acknowledged before.
 */
export async function measureUnbilled(
  parts: MeasuringParts,
  { environment, providerId }: Pick<Operation, 'environment' | 'providerId'>,
  { bills, conversions }: ReadFinalBills,
): Promise<readonly UnbilledUsage[]> {
  const unbilled: UnbilledUsage[] = []
  for (const own of bills) {
    const measuredBills: UnbilledUsage[] = []
    // When the next bill is made, the usage of the earlier bills of this call is already billed, including late usage.
    let billed: UsageToBill['earlier'] | undefined
    for (const { toBill } of own) {
      const whole = { ...toBill, earlier: billed ?? toBill.earlier }
      const { purchase } = whole
      const { planSnapshot: plan, currency } = purchase
      if (plan === null) throw new Error(`purchase ${purchase.reference} has no plan to charge for`)
      const measured = await measureUsage(parts, environment, providerId, whole)
      const lines = usageBillLines(purchase, plan, conversions.get(currency)!, measured)
      measuredBills.push({ toBill: whole, measured, amountMinor: totalOf(lines) })
      billed = periodsBilledAfter(measured, lines)
    }
    if (measuredBills.some(({ amountMinor }) => amountMinor !== 0n)) unbilled.push(...measuredBills)
  }
  return unbilled
}

/** Returns all periods that are billed after this bill, newest first. */
function periodsBilledAfter(
  { current, earlier }: UsageToPrice,
  lines: ReturnType<typeof usageBillLines>,
): UsageToBill['earlier'] {
  const rebilled = earlier.map(({ period, usedMicros, usedBeforeMicros, billed }) => ({
    ...period,
    billed: { ...billed, usedMicros, usedBeforeMicros },
  }))
  if (current === undefined) return rebilled
  const { period, usedMicros, usedBeforeMicros } = current
  const carriedOverMicros = carriedOverOf(lines)
  return [{ ...period, billed: { usedMicros, usedBeforeMicros, carriedOverMicros } }, ...rebilled]
}

function carriedOverOf(lines: ReturnType<typeof usageBillLines>): bigint {
  const [own] = lines.flatMap(({ inputs }) => (inputs.kind === 'usage' ? [inputs] : []))
  return own === undefined ? 0n : microsOfDecimal(own.carriedOverUnits)
}

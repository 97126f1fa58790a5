import type { Queryable } from '@tollgate/platform/database/database'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { partOf } from '../billing/billed-part.ts'
import { readCreditConversion } from '../billing/credit-conversion.ts'
import { decideFinalBills, type FinalBill } from '../billing/decide-final-bill.ts'
import { measureUsage, type MeasuringParts } from '../billing/measure-usage.ts'
import { readUsageToBill, type UsageToBill } from '../billing/prepare-usage-bill.ts'
import { periodsBilledAfter } from '../billing/periods-billed-after.ts'
import { usageBillLines, type UsageToPrice } from '../billing/usage-lines.ts'
import { minimumLines } from '../billing/minimum-lines.ts'
import { payByPacks } from '../billing/pay-by-packs.ts'
import { findPackAccount, type PackAccount } from '../packs/repository.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'

/** Usage of one purchase that is not invoiced yet, with the input for its bill. */
export type UnbilledUsage = {
  readonly toBill: UsageToBill
  readonly measured: UsageToPrice
  /** Minor units of the purchase's currency, without tax. Not all bills of a purchase are 0, unless packs pay for them. */
  readonly amountMinor: bigint
}

type ReadBill = {
  readonly bill: FinalBill
  readonly toBill: UsageToBill
  /** Packs that pay for usage; undefined if the customer has none. */
  readonly packs: PackAccount | undefined
}

/** The final bills of several purchases, in the order in which they are made. */
export type ReadFinalBills = {
  readonly bills: readonly (readonly ReadBill[])[]
  readonly conversions: ReadonlyMap<string, CreditConversion>
}

/**
 * Reads the input for the final bills. The oldest purchase comes first, because packs pay first for the usage that came first. The
 * packs must be settled up to now.
 */
export async function readFinalBills(
  sql: Queryable,
  { providerId, now }: Pick<Operation, 'providerId' | 'now'>,
  purchases: readonly Purchase[],
): Promise<ReadFinalBills> {
  const bills: ReadBill[][] = []
  const conversions = new Map<string, CreditConversion>()
  for (const purchase of purchases.toSorted(byStart)) {
    const own: ReadBill[] = []
    const packs = await findPackAccount(sql, providerId, purchase)
    for (const bill of decideFinalBills(purchase, now)) {
      const toBill = await readUsageToBill({ sql, providerId }, bill, timestampPastMsMax)
      // Late usage only exists for periods that were billed before.
      if (bill.period !== undefined || toBill.earlier.length > 0) own.push({ bill, toBill, packs })
    }
    if (own.length === 0) continue
    bills.push(own)
    const { currency } = purchase
    conversions.set(currency, await readCreditConversion({ sql, providerId }, currency))
  }
  return { bills, conversions }
}

function byStart(one: Purchase, other: Purchase): number {
  return one.startDate.getTime() - other.startDate.getTime()
}

/**
 * Sums up the usage of the bills from the raw records. Purchases whose bills charge nothing are left out, unless packs pay for some of
 * their usage: these units must be drawn before those of the next purchase.
 *
 * Throws UsageBehindError while the usage store does not contain all usage that was acknowledged before.
 */
export async function measureUnbilled(
  parts: MeasuringParts,
  { environment, providerId }: Pick<Operation, 'environment' | 'providerId'>,
  { bills, conversions }: ReadFinalBills,
): Promise<readonly UnbilledUsage[]> {
  const unbilled: UnbilledUsage[] = []
  // Purchases of one product share their packs, so each bill finds what the bills before it have left.
  const accounts = new Map<string, PackAccount>()
  for (const own of bills) {
    const measuredBills: UnbilledUsage[] = []
    let hasDraws = false
    // When the next bill is made, the usage of the earlier bills of this call is already billed, including late usage.
    let billed: UsageToBill['earlier'] | undefined
    for (const { toBill, packs: read } of own) {
      const whole = { ...toBill, earlier: billed ?? toBill.earlier }
      const { purchase } = whole
      const { planSnapshot: plan, currency } = purchase
      if (plan === null) throw new Error(`purchase ${purchase.reference} has no plan to charge for`)
      const measured = await measureUsage(parts, environment, providerId, whole)
      const packs = accounts.get(purchase.productRef) ?? read
      const paid = packs && payByPacks(packs, purchase, plan, measured)
      if (paid !== undefined) accounts.set(purchase.productRef, paid.account)
      hasDraws ||= paid !== undefined && paid.draws.length > 0
      const usage = paid?.usage ?? measured
      const conversion = conversions.get(currency)!
      const used = usageBillLines(purchase, plan, conversion, usage, partOf(whole, measured))
      const lines = [...used, ...minimumLines(purchase, plan, whole, used, parts.now())]
      measuredBills.push({ toBill: whole, measured, amountMinor: totalOf(lines) })
      billed = periodsBilledAfter(usage, lines, whole.earlier)
    }
    const isCharged = measuredBills.some(({ amountMinor }) => amountMinor !== 0n)
    if (isCharged || hasDraws) unbilled.push(...measuredBills)
  }
  return unbilled
}

import { listCurrentReferences } from '../customers/repository.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { findPackAccount, type PackAccount } from '../packs/repository.ts'
import { usagePeriodAt, usagePeriodOf, type Period } from '../periods/periods.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { cycleOf } from '../purchases/access.ts'
import { findEndOfPrevious } from '../purchases/purchase-fields-repository.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'

/** A purchase whose last complete period is priced. */
export type HolderToPrice = {
  readonly purchase: Purchase
  /** Undefined if no charged period is complete yet. */
  readonly period: Period | undefined
  /** The period before, which may leave units to it. Undefined if there is none. */
  readonly before: Period | undefined
  readonly endOfPrevious: Date | undefined
  readonly customerRefs: readonly string[]
  readonly packs: PackAccount | undefined
  /** Undefined if the currency has no exchange rate. */
  readonly conversion: CreditConversion | undefined
}

/** Reads what the price of the last complete period depends on, except its usage. */
export async function readHolder(
  { sql, providerId, now }: ReadingAt,
  purchase: Purchase,
): Promise<HolderToPrice> {
  const { customerRef, currency } = purchase
  const period = lastPeriodOf(purchase, now)
  const references = await listCurrentReferences(sql, [{ providerId, customerRef }])
  const rate = await findExchangeRate(sql, providerId, currency)
  return {
    purchase,
    period,
    before: period && periodBefore(purchase, period),
    endOfPrevious: await findEndOfPrevious(sql, providerId, purchase),
    customerRefs: references.get(customerRef) ?? [customerRef],
    packs: await findPackAccount(sql, providerId, purchase),
    conversion: rate && { currency, unitsPerDollar: rate.unitsPerDollar },
  }
}

/** Returns the newest charged period that has ended. A trial is not charged. */
function lastPeriodOf(purchase: Purchase, now: Date): Period | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined || purchase.startDate > now) return undefined
  return periodBefore(purchase, usagePeriodAt(cycle, purchase.startDate, now))
}

function periodBefore(purchase: Purchase, { index, start }: Period): Period | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined || index <= 0 || start <= purchase.startDate) return undefined
  return usagePeriodOf(cycle, purchase.startDate, index - 1)
}

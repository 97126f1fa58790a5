import { atLeastZero, lesser, sumOf } from '../money/amounts.ts'
import { divideRounded } from '../money/decimal.ts'
import {
  creditIn,
  netIn,
  priceIn,
  uncreditedPriceIn,
  withoutTax,
  withTax,
  type BillOfUsage,
  type TaxedCredit,
} from './bill-of-usage.ts'
import { CreditFlow } from './credit-flow.ts'

/** Amount that later invoices have credited, and the part of it that is tax. Minor units. */
export type CreditedLater = TaxedCredit & {
  /**
   * Returned of the bill without a credit note: the credits, and refunds whose credit the balance got back because the bill that held the
   * credit became void.
   */
  readonly returnedMinor: bigint
  /** Lost of the bill itself (see `BillOfUsage`). */
  readonly lostMinor: bigint
  /**
   * What credit notes can still credit of the usage of each period, keyed by its start in Unix milliseconds. After discounts and without
   * the tax that is added. A period of which later bills have credited nothing is absent.
   */
  readonly creditableByPeriod: ReadonlyMap<number, bigint>
}

export const nothingCredited: CreditedLater = {
  ...{ amountMinor: 0n, taxMinor: 0n, returnedMinor: 0n, lostMinor: 0n },
  creditableByPeriod: new Map(),
}

/**
 * Returns what later bills have credited of the usage that the bill charges, with tax and after discounts, because the usage was
 * corrected or packs paid for it later. `bills`: all bills of the purchase with usage of periods that were credited, oldest first.
 *
 * A credit names its period, and not the bill that charged too much. So only the part counts for this bill that the other bills of the
 * period cannot have charged, or have returned otherwise. Whatever is returned of each of them, the customer gets back at most what all
 * bills of a period have charged.
 */
export function decideCreditedLater(
  reference: string,
  bills: readonly BillOfUsage[],
): CreditedLater {
  const at = bills.findIndex((each) => each.reference === reference)
  const own = bills[at]
  if (own === undefined) return nothingCredited
  const credited = [...new CreditFlow(bills, own).assignToOwn(own)].filter(
    ([, minor]) => minor > 0n,
  )
  const later = bills.slice(at + 1).filter((bill) => !bill.isVoid)
  const amountMinor = sumOf(credited.map(([, minor]) => minor))
  return {
    amountMinor,
    returnedMinor: amountMinor + atLeastZero(-own.takenMinor),
    lostMinor: own.lostMinor,
    taxMinor: sumOf(credited.map(([start, minor]) => taxIn(start, minor, own, later))),
    creditableByPeriod: new Map(
      credited.map(([start, minor]) => [
        start,
        atLeastZero(uncreditedPriceIn(own, start) - withoutTax(own, minor)),
      ]),
    ),
  }
}

/** Returns the tax in the part of the credits of the period that counts for a bill. */
function taxIn(
  start: number,
  amountMinor: bigint,
  own: BillOfUsage,
  later: readonly BillOfUsage[],
): bigint {
  const credits = later
    .filter((bill) => netIn(bill, start) < 0n)
    .map((bill) => creditIn(bill, start, own))
  const allMinor = sumOf(credits.map((credit) => credit.amountMinor))
  const taxMinor = sumOf(credits.map((credit) => credit.taxMinor))
  return divideRounded(amountMinor * taxMinor, allMinor)
}

/**
 * Returns how much of the billed usage of periods a new bill can credit, keyed by the start of the period in Unix milliseconds. `wanted`:
 * what each period has left by its own lines. The result is less if what a bill charged for one period was credited or lost together
 * with that of another. Before discounts and tax.
 */
export function decideCreditableUsage(
  bills: readonly BillOfUsage[],
  wanted: ReadonlyMap<number, bigint>,
): Map<number, bigint> {
  const flow = new CreditFlow(bills)
  return new Map(
    [...wanted].map(([start, minor]) => {
      const charging = bills.filter((bill) => netIn(bill, start) > 0n)
      const listMinor = sumOf(charging.map((bill) => netIn(bill, start)))
      const chargedMinor = sumOf(charging.map((bill) => withTax(bill, priceIn(bill, start))))
      if (listMinor === 0n || chargedMinor === 0n) return [start, minor]
      const wantedMinor = (minor * chargedMinor + listMinor - 1n) / listMinor
      const missingMinor = wantedMinor - flow.assignFurther(start, wantedMinor)
      const lessMinor = (missingMinor * listMinor + chargedMinor - 1n) / chargedMinor
      return [start, atLeastZero(minor - lesser(lessMinor, minor))]
    }),
  )
}

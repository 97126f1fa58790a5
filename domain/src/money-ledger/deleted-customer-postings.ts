import { entriesOf } from './entries-of.ts'
import type { CustomerAmount, Posting } from './postings.ts'

/* Amounts owed by a deleted customer, which are not charged. */

type DeletedCustomerAmount = CustomerAmount & {
  /** Distinguishes the amounts of one customer. */
  readonly part: string
}

/** Posts usage of a deleted customer that no invoice charged. It is earned and written off at once. */
export function usageWrittenOff({
  customerRef,
  part,
  currency,
  amountMinor,
}: DeletedCustomerAmount): Posting {
  return {
    kind: 'usage_written_off',
    key: `customer:${customerRef}:usage-written-off:${part}`,
    customerRef,
    entries: entriesOf(currency, { written_off: amountMinor, revenue: -amountMinor }),
  }
}

/** Posts the carried amount of a deleted customer that no further invoice will charge. */
export function carriedWrittenOff({
  customerRef,
  part,
  currency,
  amountMinor,
}: DeletedCustomerAmount): Posting {
  return {
    kind: 'carried_written_off',
    key: `customer:${customerRef}:carried-written-off:${part}`,
    customerRef,
    entries: entriesOf(currency, { written_off: amountMinor, carried: -amountMinor }),
  }
}

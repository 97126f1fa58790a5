import { entriesOf, type OfCustomer, type Posting } from './postings.ts'

/* What a customer owes that is deleted, and nobody charges. */

type OfLeaver = OfCustomer & {
  /** Says which of the customer's amounts it is. */
  readonly part: string
}

/** Usage that no invoice charged, of a customer that is deleted: earned, and given up at once. */
export function usageWrittenOff({ customerRef, part, currency, amountMinor }: OfLeaver): Posting {
  return {
    kind: 'usage_written_off',
    key: `customer:${customerRef}:usage-written-off:${part}`,
    customerRef,
    entries: entriesOf(currency, { written_off: amountMinor, revenue: -amountMinor }),
  }
}

/** What waited for the next invoice of a customer that is deleted. */
export function carriedWrittenOff({ customerRef, part, currency, amountMinor }: OfLeaver): Posting {
  return {
    kind: 'carried_written_off',
    key: `customer:${customerRef}:carried-written-off:${part}`,
    customerRef,
    entries: entriesOf(currency, { written_off: amountMinor, carried: -amountMinor }),
  }
}

import { brandName } from '@tollgate/domain/payments/card-brand'
import type { PaidWith } from '@tollgate/domain/payments/payment-intent'
import type { ChargedPeriod } from '@tollgate/domain/pricing/invoice-line'
import { documentText } from './document-words.ts'

/* Formats of dates, periods, countries and cards in documents. */

const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const countryNames = new Intl.DisplayNames('en', { type: 'region' })

export function dateText(at: Date): string {
  return dates.format(at)
}

/** Returns the first and the last day of a period. A period that ends at midnight does not include the day that begins then. */
export function periodText({ start, end }: ChargedPeriod): string {
  return documentText('period', {
    start: dateText(start),
    end: dateText(new Date(end.getTime() - 1)),
  })
}

export function countryText(code: string): string {
  return countryNames.of(code) ?? code
}

/** Returns the card, such as `Visa ending in 4242`. */
export function cardText({ brand, last4 }: PaidWith): string {
  return documentText('card', { brand: brandName(brand), last4 })
}

/** Returns the card with its expiry, such as `Visa ending in 4242 (12/2034)`. */
export function cardWithExpiryText(card: PaidWith): string {
  const expiry = expiryText(card)
  return expiry === null
    ? cardText(card)
    : documentText('cardWithExpiry', { card: cardText(card), expiry })
}

/** Returns the expiry of a card, such as `08/2034`. Returns null for payments from before the expiry of their card was stored. */
export function expiryText({ expMonth, expYear }: Pick<PaidWith, 'expMonth' | 'expYear'>) {
  if (expMonth === undefined || expYear === undefined) return null
  return `${String(expMonth).padStart(2, '0')}/${expYear}`
}

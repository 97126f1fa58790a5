import type { PaidWith } from '@tollgate/domain/payments/payment-intent'

/** Returns the expiry of a card, such as `08/2034`. Returns null for payments from before the expiry of their card was stored. */
export function expiryText({ expMonth, expYear }: Pick<PaidWith, 'expMonth' | 'expYear'>) {
  if (expMonth === undefined || expYear === undefined) return null
  return `${String(expMonth).padStart(2, '0')}/${expYear}`
}

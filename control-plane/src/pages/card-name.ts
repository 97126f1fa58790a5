import { brandName } from '@tollgate/domain/payments/card-brand'
import type { Reader } from './reader.ts'

/** The network and the last digits of a card. */
export type NamedCard = { readonly brand: string; readonly last4: string }

/** Returns the card as its holder knows it: `Visa ending in 4242`. */
export function cardName({ brand, last4 }: NamedCard, { t }: Pick<Reader, 't'>): string {
  return t('shared:cardEndingIn', { brand: brandName(brand), last4 })
}

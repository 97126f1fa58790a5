import type { Reader } from './reader.ts'

/** A card as its issuer's network and its last digits name it. */
export type NamedCard = { readonly brand: string; readonly last4: string }

/** Networks whose name is not the processor's word with a capital letter. */
const brands: Readonly<Record<string, string>> = {
  amex: 'American Express',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
}

/** Returns the card as its holder knows it: `Visa ending in 4242`. */
export function cardName({ brand, last4 }: NamedCard, { t }: Pick<Reader, 't'>): string {
  return t('shared:cardEndingIn', { brand: brandName(brand), last4 })
}

/** Returns the name of a card's network: `American Express`. */
export function brandName(brand: string): string {
  return brands[brand] ?? `${brand.charAt(0).toUpperCase()}${brand.slice(1)}`
}

/** Networks whose name is not the processor's identifier with a capital letter. */
const brands: Readonly<Record<string, string>> = {
  amex: 'American Express',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
}

/** Returns the name of a card's network from the processor's identifier: `American Express` for `amex`. */
export function brandName(brand: string): string {
  return brands[brand] ?? `${brand.charAt(0).toUpperCase()}${brand.slice(1)}`
}

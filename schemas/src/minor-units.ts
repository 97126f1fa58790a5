/** Currencies without a smaller unit. */
const zeroDecimalCurrencies: ReadonlySet<string> = new Set([
  'BIF',
  'CLP',
  'DJF',
  'GNF',
  'JPY',
  'KMF',
  'KRW',
  'MGA',
  'PYG',
  'RWF',
  'UGX',
  'VND',
  'VUV',
  'XAF',
  'XOF',
  'XPF',
])

/** Returns the digits after the decimal point that amounts in minor units of the currency have. The code is in upper case. */
export function fractionDigitsOf(currency: string): 0 | 2 {
  return zeroDecimalCurrencies.has(currency) ? 0 : 2
}

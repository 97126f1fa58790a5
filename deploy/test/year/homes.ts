/** Country of a customer who buys from a Swedish seller, and the tax there. */
export type Home = { readonly details: object; readonly ratePerMille: bigint }

export const homes: readonly Home[] = [
  { details: { isBusiness: false, customerCountry: 'SE' }, ratePerMille: 250n },
  { details: { isBusiness: false, customerCountry: 'FI' }, ratePerMille: 255n },
  {
    details: { isBusiness: true, businessName: 'Ada GmbH', country: 'DE', taxId: 'DE123456789' },
    ratePerMille: 0n,
  },
  { details: { isBusiness: false, customerCountry: 'DE' }, ratePerMille: 190n },
]

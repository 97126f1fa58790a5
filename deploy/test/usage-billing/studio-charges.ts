import type { Charge } from '@tollgate/schemas/http/charges'

/* Charges of a studio: tokens in tiers, and images by their model and region. */

/** Tiers of tokens, as the oracle reads them. */
export const tiers = [
  { upTo: '1000', price: '0.25', flatPrice: '7' },
  { upTo: null, price: '0.001003', flatPrice: '12.5' },
] as const

export const tokens: Charge = {
  key: 'tokens',
  displayName: 'Tokens',
  meter: 'tokens',
  model: 'graduated',
  tiers: tiers.map((tier) => ({ ...tier, upTo: tier.upTo === null ? null : Number(tier.upTo) })),
  included: 100,
  per: 'period',
}

/** A large image costs 8.4 cents, a small one 3.05 cents, and any other one 5 cents. */
export const images: Charge = {
  key: 'images',
  meter: 'images',
  model: 'matrix',
  rows: [
    { when: { model: 'large', region: 'eu' }, price: '8.4' },
    { when: { model: 'small' }, price: '3.05' },
  ],
  price: '5',
  per: 'period',
}

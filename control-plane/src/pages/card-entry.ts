import type { Environment } from '@tollgate/schemas/environment'
import { noForeignOrigins, type ForeignOrigins } from './security-headers.ts'

/** Where customers enter their card. Card data never reaches Tollgate. */
export type CardEntry =
  /** The installation takes no payments. */
  | { readonly kind: 'none' }
  /** Customers enter the card in Stripe's own element on a hosted page. */
  | { readonly kind: 'stripe'; readonly publishableKey: string }
  /** Customers enter the card on a page of the local simulator. */
  | { readonly kind: 'simulator'; readonly origin: string }

export type CardEntries = Readonly<Record<Environment, CardEntry>>

const stripeHost = 'api.stripe.com'

export function cardEntryOf(stripeUrl: URL, publishableKey: string): CardEntry {
  if (stripeUrl.hostname !== stripeHost) return { kind: 'simulator', origin: stripeUrl.origin }
  return publishableKey === '' ? { kind: 'none' } : { kind: 'stripe', publishableKey }
}

/** The release of Stripe's script that matches the API version in platform/src/payments/stripe. */
export const stripeScript = 'https://js.stripe.com/endive/stripe.js'

/** Returns the origins that the card entry needs: those that Stripe documents for its element, or none. */
export function cardEntryOrigins(entry: CardEntry): ForeignOrigins {
  switch (entry.kind) {
    case 'none':
      return noForeignOrigins
    case 'simulator':
      return { ...noForeignOrigins, forms: [entry.origin] }
    case 'stripe':
      return {
        scripts: ['https://js.stripe.com', 'https://*.js.stripe.com'],
        frames: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
        connections: ['https://api.stripe.com'],
        forms: [],
      }
  }
}

import type { Environment } from '@tollgate/schemas/environment'
import { noForeignOrigins, type ForeignOrigins } from './security-headers.ts'

/** Where a customer's card is entered: never on our side. */
export type CardEntry =
  /** No payments are taken. */
  | { readonly kind: 'none' }
  /** In Stripe's own element on our page. */
  | { readonly kind: 'stripe'; readonly publishableKey: string }
  /** On a page of the local simulator. */
  | { readonly kind: 'simulator'; readonly origin: string }

export type CardEntries = Readonly<Record<Environment, CardEntry>>

const stripeHost = 'api.stripe.com'

export function cardEntryOf(stripeUrl: URL, publishableKey: string): CardEntry {
  if (stripeUrl.hostname !== stripeHost) return { kind: 'simulator', origin: stripeUrl.origin }
  return publishableKey === '' ? { kind: 'none' } : { kind: 'stripe', publishableKey }
}

/** The release that goes with the version of the API that platform/src/payments/stripe asks for. */
export const stripeScript = 'https://js.stripe.com/endive/stripe.js'

/** What Stripe documents for its element; nothing where there is none. */
export function originsFor(entry: CardEntry): ForeignOrigins {
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

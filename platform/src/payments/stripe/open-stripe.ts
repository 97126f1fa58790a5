import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import Stripe from 'stripe'
import type { StripeAccess } from './stripe-settings.ts'

/** API version that from-stripe.ts reads. It is updated together with the SDK, whose types accept no other version. */
const apiVersion = '2026-10-28.endive'

export type OpenStripe = { readonly stripe: Stripe; readonly close: () => void }

/**
 * Opens the SDK without automatic retries and telemetry. One retry cannot be turned off: if a connection is closed during a
 * request, the SDK sends it again. That is harmless, because every write has our idempotency key.
 */
export function openStripe({ url, secretKey, timeoutMs }: StripeAccess): OpenStripe {
  const isPlain = url.protocol === 'http:'
  const agent = new (isPlain ? HttpAgent : HttpsAgent)({ keepAlive: true })
  const stripe = new Stripe(secretKey, {
    apiVersion,
    host: url.hostname,
    port: url.port === '' ? (isPlain ? 80 : 443) : Number(url.port),
    protocol: isPlain ? 'http' : 'https',
    httpAgent: agent,
    timeout: timeoutMs,
    maxNetworkRetries: 0,
    telemetry: false,
  })
  return { stripe, close: () => agent.destroy() }
}

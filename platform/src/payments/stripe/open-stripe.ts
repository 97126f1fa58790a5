import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import Stripe from 'stripe'
import type { StripeAccess } from './stripe-settings.ts'

/** The version whose shapes from-stripe.ts reads. It moves together with the SDK, whose types accept no other. */
const apiVersion = '2026-10-28.endive'

export type OpenStripe = { readonly stripe: Stripe; readonly close: () => void }

/**
 * The SDK, told to do nothing by itself. One thing it cannot be told: a connection that is closed under a request makes it
 * send that request once more. That is harmless because every write carries our own key, which goes along.
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

import { randomUUID } from 'node:crypto'
import type { Gate, GatedCall } from '@tollgate/mcp-proxy/gate/gate'
import type { ServedServer } from '@tollgate/mcp-proxy/servers/served-server'
import { expect } from 'vitest'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'

const offered = {
  ...{ reference: 'pln_1', name: 'Pro', type: 'recurring', price: 900, currency: 'USD' },
  isOffered: true,
}

/** Returns a server of the provider with one protected tool, `search`. */
export function serverOf(
  providerId: string,
  productRef: string,
  changes: Partial<ServedServer> = {},
): ServedServer {
  return {
    ...{ environment: 'sandbox', providerId, productRef, reference: 'mcp_1', subdomain: 'test' },
    productName: 'Search',
    plans: [offered],
    proxyUrl: 'http://127.0.0.1/sandbox/mcp/test',
    issuer: 'http://127.0.0.1/sandbox/mcp/test',
    originUrl: 'http://127.0.0.1:9/mcp',
    originHeaders: {},
    tools: new Map([['search', { access: 'every-plan', planRefs: [] }]]),
    defaultPlanRef: undefined,
    ...changes,
  }
}

/** Returns a call of `search` by a client that opens no URLs. */
export function callOf(
  server: ServedServer,
  customerRef: string,
  changes: Partial<GatedCall> = {},
) {
  return {
    ...{ server, customerRef, toolName: 'search', callId: `call_${randomUUID()}` },
    clientKey: undefined,
    client: { era: 'sessions' as const, opensUrls: false, showsApps: false },
    ...changes,
  }
}

export type Paywall = {
  kind: string
  checkoutUrl: string
  message: string
  [name: string]: unknown
}

/** Returns the structured content of the paywall that answers the call. */
export async function paywallIn(gate: Gate, given: GatedCall): Promise<Paywall> {
  const admission = await gate.admit(given)
  if (admission.kind !== 'paywalled' || admission.answer.kind !== 'result') {
    throw new Error(JSON.stringify(admission))
  }
  const { result } = admission.answer
  const paywall = result['structuredContent'] as Paywall
  expect(result).toEqual({
    content: [{ type: 'text', text: paywall.message }],
    structuredContent: paywall,
    isError: false,
  })
  return paywall
}

/** Returns a range from 1 hour ago to 1 hour ahead. */
export const aroundNow = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString(),
})

/** Returns whether a call holds the customer's last unit. */
export async function isHeld(
  client: TollgateClient,
  customerRef: string,
  productRef: string,
): Promise<boolean> {
  const reserve = { units: 1, ttlSeconds: 60 }
  const request = { customerRef, productRef, reserve }
  const { reservation } = (await client.require('POST', '/v1/sdk/limits', request)) as {
    reservation?: { id: string }
  }
  if (reservation === undefined) return true
  await client.require('POST', '/v1/sdk/limits/release', { reservationId: reservation.id })
  return false
}

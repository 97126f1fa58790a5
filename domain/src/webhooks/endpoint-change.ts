import type { WebhookEndpoint } from './endpoint.ts'

export type EndpointChange = {
  readonly url: string | undefined
  /** Whether a new address receives the links of customers' pages. */
  readonly mayGetLinks: boolean
  readonly enabledEvents: readonly string[] | undefined
  readonly status: 'enabled' | 'disabled' | undefined
  /** When the endpoint is enabled, held deliveries created before this time are skipped. */
  readonly skipHeldBefore: Date | undefined
}

/** Returns the endpoint after a change by its provider. Enabling it resets its failures. */
export function changeEndpoint(
  endpoint: WebhookEndpoint,
  { url, mayGetLinks, enabledEvents, status }: EndpointChange,
  now: Date,
): WebhookEndpoint {
  const changed = {
    ...endpoint,
    url: url ?? endpoint.url,
    sendsLinks: url === undefined ? endpoint.sendsLinks : mayGetLinks,
    enabledEvents: enabledEvents ?? endpoint.enabledEvents,
    updatedAt: now,
  }
  if (status === undefined || status === endpoint.status) return changed
  return status === 'enabled'
    ? {
        ...changed,
        status,
        disabledReason: null,
        disabledAt: null,
        failureCount: 0,
        failingSince: null,
      }
    : { ...changed, status, disabledReason: 'provider', disabledAt: now }
}

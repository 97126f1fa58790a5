import type { WebhookEndpoint } from './endpoint.ts'

export type EndpointChange = {
  readonly url: string | undefined
  /** Whether a new address gets the links of customers' pages. */
  readonly mayGetLinks: boolean
  readonly enabledEvents: readonly string[] | undefined
  readonly status: 'enabled' | 'disabled' | undefined
  /** Of what was held, only what was made then or later is sent when the endpoint is enabled. */
  readonly skipHeldBefore: Date | undefined
}

/** The endpoint as its owner wants it. Enabling it again forgets what failed: it is as good as a new one. */
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

import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import type { WebhookEndpoint } from '../store/records.ts'

export type NewEndpoint = {
  readonly url: string
  readonly enabled_events: readonly string[]
  readonly description?: string | undefined
  readonly metadata?: MetadataChange | undefined
}

export function createEndpoint(
  work: UnitOfWork,
  parameters: NewEndpoint,
  secret = newId('whsec_'),
): WebhookEndpoint {
  const endpoint: WebhookEndpoint = {
    id: newId('we_'),
    object: 'webhook_endpoint',
    api_version: null,
    application: null,
    created: work.now,
    description: parameters.description ?? null,
    enabled_events: parameters.enabled_events,
    livemode: work.mode === 'live',
    metadata: changedMetadata({}, parameters.metadata),
    status: 'enabled',
    url: parameters.url,
    simulator: { secret },
  }
  work.add('webhook_endpoint', endpoint)
  return endpoint
}

export function updateEndpoint(
  work: UnitOfWork,
  id: string,
  change: { readonly [Name in keyof NewEndpoint]?: NewEndpoint[Name] | undefined } & {
    readonly disabled?: boolean | undefined
  },
): WebhookEndpoint {
  const endpoint = work.require('webhook_endpoint', id)
  const { url, enabled_events, description, disabled } = change
  const changed: WebhookEndpoint = {
    ...endpoint,
    ...(url !== undefined && { url }),
    ...(enabled_events !== undefined && { enabled_events }),
    ...(description !== undefined && { description: description || null }),
    ...(disabled !== undefined && { status: disabled ? 'disabled' : 'enabled' }),
    metadata: changedMetadata(endpoint.metadata, change.metadata),
  }
  work.put('webhook_endpoint', changed)
  return changed
}

export type ConfiguredEndpoint = {
  readonly url: string
  readonly secret: string
  /** Types of the events that it receives. Absent: all of them. */
  readonly events?: readonly string[]
}

/** Creates the configured webhook endpoint, or updates it to the current configuration. */
export function ensureConfiguredEndpoint(
  work: UnitOfWork,
  { url, secret, events }: ConfiguredEndpoint,
): void {
  const description = 'Configured at the start of the simulator'
  const known = [...work.list('webhook_endpoint')].find((each) => each.description === description)
  if (known === undefined) {
    createEndpoint(work, { url, enabled_events: events ?? ['*'], description }, secret)
  } else {
    const enabled = events ?? known.enabled_events
    const changed = { ...known, url, enabled_events: enabled, simulator: { secret } }
    work.put('webhook_endpoint', changed)
  }
}

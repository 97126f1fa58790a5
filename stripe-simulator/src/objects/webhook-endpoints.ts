import { newId, type World } from '../store/world.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import type { WebhookEndpoint } from '../store/records.ts'

export type NewEndpoint = {
  readonly url: string
  readonly enabled_events: readonly string[]
  readonly description?: string | undefined
  readonly metadata?: MetadataChange | undefined
}

export function createEndpoint(
  world: World,
  wanted: NewEndpoint,
  secret = newId('whsec_'),
): WebhookEndpoint {
  const endpoint: WebhookEndpoint = {
    id: newId('we_'),
    object: 'webhook_endpoint',
    api_version: null,
    application: null,
    created: world.now,
    description: wanted.description ?? null,
    enabled_events: wanted.enabled_events,
    livemode: world.mode === 'live',
    metadata: changedMetadata({}, wanted.metadata),
    status: 'enabled',
    url: wanted.url,
    simulator: { secret },
  }
  world.add('webhook_endpoint', endpoint)
  return endpoint
}

export function updateEndpoint(
  world: World,
  id: string,
  change: { readonly [Name in keyof NewEndpoint]?: NewEndpoint[Name] | undefined } & {
    readonly disabled?: boolean | undefined
  },
): WebhookEndpoint {
  const endpoint = world.require('webhook_endpoint', id)
  const { url, enabled_events, description, disabled } = change
  const changed: WebhookEndpoint = {
    ...endpoint,
    ...(url !== undefined && { url }),
    ...(enabled_events !== undefined && { enabled_events }),
    ...(description !== undefined && { description: description || null }),
    ...(disabled !== undefined && { status: disabled ? 'disabled' : 'enabled' }),
    metadata: changedMetadata(endpoint.metadata, change.metadata),
  }
  world.put('webhook_endpoint', changed)
  return changed
}

/** Creates the configured webhook endpoint, or updates it to the current configuration. */
export function ensureConfiguredEndpoint(world: World, url: string, secret: string): void {
  const description = 'Configured at the start of the simulator'
  const known = [...world.list('webhook_endpoint')].find((each) => each.description === description)
  if (known === undefined) {
    createEndpoint(world, { url, enabled_events: ['*'], description }, secret)
  } else world.put('webhook_endpoint', { ...known, url, simulator: { secret } })
}

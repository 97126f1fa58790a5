import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { notifyEndpointsChanged } from '../outbox/dispatcher-channel.ts'
import { changeEndpoint, type EndpointChange } from './endpoint-change.ts'
import type { WebhookEndpoint, WebhookSecret } from './endpoint.ts'
import {
  deleteEndpoint,
  insertEndpoint,
  lockAndCountEndpoints,
  lockEndpoint,
  updateEndpoint,
} from './endpoints-repository.ts'
import { skipHeldDeliveries } from './deliveries-repository.ts'
import { insertSecret, listEndpointSecrets } from './secrets-repository.ts'

/** An endpoint with all its secrets, including those that have ended. */
export type EndpointWithSecrets = {
  readonly endpoint: WebhookEndpoint
  readonly secrets: readonly WebhookSecret[]
}

export type NewEndpoint = {
  readonly url: string
  readonly sendsLinks: boolean
  readonly enabledEvents: readonly string[]
  /** Secret sealed for `signingSecretPlace`. */
  readonly sealedSecret: string
}

export type CreateOutcome =
  ({ readonly kind: 'created' } & EndpointWithSecrets) | { readonly kind: 'too-many' }

/** Creates an endpoint. It receives events that are emitted after its commit. */
export async function createWebhookEndpoint(
  work: UnitOfWork,
  { url, sendsLinks, enabledEvents, sealedSecret }: NewEndpoint,
  endpointsMax: number,
): Promise<CreateOutcome> {
  const { sql, providerId, now } = work
  if ((await lockAndCountEndpoints(sql, providerId)) >= endpointsMax) return { kind: 'too-many' }
  const endpoint: WebhookEndpoint = {
    providerId,
    reference: generateReference('webhookEndpoint'),
    url,
    sendsLinks,
    enabledEvents,
    status: 'enabled',
    disabledReason: null,
    disabledAt: null,
    failureCount: 0,
    failingSince: null,
    createdAt: now,
    updatedAt: now,
  }
  await insertEndpoint(sql, endpoint)
  const secret = newSecret(sealedSecret, true, now)
  await insertSecret(sql, endpoint, secret)
  return { kind: 'created', endpoint, secrets: [secret] }
}

export function newSecret(sealed: string, signsFirst: boolean, createdAt: Date): WebhookSecret {
  const reference = generateReference('webhookSigningSecret')
  return { reference, sealed, signsFirst, createdAt, expiresAt: null }
}

/**
 * Changes an endpoint. Returns undefined if it does not exist. Its queued deliveries are held or sent a moment after the commit.
 */
export async function updateWebhookEndpoint(
  work: UnitOfWork,
  reference: string,
  change: EndpointChange,
): Promise<EndpointWithSecrets | undefined> {
  const { sql, providerId, now } = work
  const found = await lockEndpoint(sql, providerId, reference)
  if (found === undefined) return undefined
  const endpoint = changeEndpoint(found, change, now)
  await updateEndpoint(sql, endpoint)
  if (endpoint.status !== found.status) {
    const { skipHeldBefore } = change
    if (endpoint.status === 'enabled' && skipHeldBefore !== undefined) {
      await skipHeldDeliveries(sql, endpoint, skipHeldBefore, now)
    }
    await notifyEndpointsChanged(sql)
  }
  return { endpoint, secrets: await listEndpointSecrets(sql, endpoint) }
}

/** Deletes an endpoint. Returns whether it existed. Attempts in progress are completed, and queued deliveries are never sent. */
export async function deleteWebhookEndpoint(work: UnitOfWork, reference: string): Promise<boolean> {
  const { sql, providerId, now } = work
  const found = await lockEndpoint(sql, providerId, reference)
  if (found === undefined) return false
  await deleteEndpoint(sql, found, now)
  await notifyEndpointsChanged(sql)
  return true
}

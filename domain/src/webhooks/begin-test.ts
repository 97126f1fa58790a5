import { sampleEvent } from '@tollgate/schemas/http/examples/events'
import { generateEventId } from '../unit-of-work/generate-event-id.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { unixSeconds } from '../periods/periods.ts'
import { findTestedAt, lockEndpoint, setTestedAt } from './endpoints-repository.ts'
import type { EndpointWithSecrets } from './manage-endpoints.ts'
import { listEndpointSecrets } from './secrets-repository.ts'

export type TestOutcome =
  | ({ readonly kind: 'begun' } & EndpointWithSecrets)
  | { readonly kind: 'not-found' }
  | { readonly kind: 'too-soon'; readonly waitMs: number }

/**
 * Permits a test event to the endpoint, including a disabled one, unless the last test was less than `intervalMs` ago. The limit
 * keeps callers from directing traffic at an address.
 */
export async function beginTest(
  { sql, providerId, now }: UnitOfWork,
  endpointRef: string,
  intervalMs: number,
): Promise<TestOutcome> {
  const endpoint = await lockEndpoint(sql, providerId, endpointRef)
  if (endpoint === undefined) return { kind: 'not-found' }
  const testedAt = await findTestedAt(sql, endpoint)
  const waitMs = testedAt === null ? 0 : testedAt.getTime() + intervalMs - now.getTime()
  if (waitMs > 0) return { kind: 'too-soon', waitMs }
  await setTestedAt(sql, endpoint, now)
  return { kind: 'begun', endpoint, secrets: await listEndpointSecrets(sql, endpoint) }
}

export type TestEvent = {
  readonly eventId: string
  readonly deliveryRef: string
  readonly attempt: number
  /** The event envelope as JSON text. */
  readonly body: string
}

/** Returns a sample event of a payment and a customer that do not exist. */
export function createTestEvent(now: Date, livemode: boolean): TestEvent {
  const eventId = generateEventId(now)
  const sample = sampleEvent('payment.succeeded')
  const envelope = { ...sample, id: eventId, created: unixSeconds(now), livemode }
  const deliveryRef = generateReference('webhookDelivery')
  return { eventId, deliveryRef, attempt: 1, body: JSON.stringify(envelope) }
}

import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { signingOrder } from './endpoint.ts'
import { lockEndpoint } from './endpoints-repository.ts'
import { newSecret, type EndpointWithSecrets } from './manage-endpoints.ts'
import { decideRotation } from './rotation.ts'
import {
  deleteEndedSecrets,
  insertSecret,
  listEndpointSecrets,
  setSecretExpiry,
  setSigningFirst,
} from './secrets-repository.ts'

export type RotateOutcome =
  | ({ readonly kind: 'rotated' } & EndpointWithSecrets)
  | { readonly kind: 'not-found' }
  | { readonly kind: 'too-many'; readonly freeAt: Date }

/** Adds a secret to the endpoint. The older secrets sign as well until the overlap ends. */
export async function rotateSecret(
  work: UnitOfWork,
  endpointRef: string,
  sealedSecret: string,
  overlapMs: number,
): Promise<RotateOutcome> {
  const { sql, providerId, now } = work
  const endpoint = await lockEndpoint(sql, providerId, endpointRef)
  if (endpoint === undefined) return { kind: 'not-found' }
  const rotation = decideRotation(await listEndpointSecrets(sql, endpoint), overlapMs, now)
  if (rotation.kind === 'too-many') return rotation
  for (const { reference, expiresAt } of rotation.ends) {
    await setSecretExpiry(sql, providerId, reference, expiresAt)
  }
  await deleteEndedSecrets(sql, endpoint, now)
  if (rotation.first !== null) await setSigningFirst(sql, endpoint, rotation.first)
  await insertSecret(sql, endpoint, newSecret(sealedSecret, rotation.first === null, now))
  return { kind: 'rotated', endpoint, secrets: await listEndpointSecrets(sql, endpoint) }
}

/**
 * Makes the newest secret sign first from now on, for receivers that check only the first signature. Returns undefined if there is
 * no such endpoint.
 */
export async function promoteNewestSecret(
  work: UnitOfWork,
  endpointRef: string,
): Promise<EndpointWithSecrets | undefined> {
  const { sql, providerId, now } = work
  const endpoint = await lockEndpoint(sql, providerId, endpointRef)
  if (endpoint === undefined) return undefined
  const unordered = (await listEndpointSecrets(sql, endpoint)).map((secret) => ({
    ...secret,
    signsFirst: false,
  }))
  const [newest] = signingOrder(unordered, now)
  if (newest !== undefined) await setSigningFirst(sql, endpoint, newest.reference)
  return { endpoint, secrets: await listEndpointSecrets(sql, endpoint) }
}

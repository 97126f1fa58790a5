import { environments, type Environment } from '@tollgate/schemas/environment'
import { publishApiKey } from '../api-keys/publish-api-key.ts'
import { publishCustomer } from '../customers/publish-customer.ts'
import { publishMeters } from '../meters/publish-meters.ts'
import { publishOffer } from '../products/publish-offer.ts'
import type { PublisherParts } from './publisher-parts.ts'
import { listPendingTargets, type PublicationTarget } from './repository.ts'

/** Where a target's publications wait: with what they tell about. */
export type PublicationSpace = Environment | 'control'

export const publicationSpaces: readonly PublicationSpace[] = ['control', ...environments]

/** 'always' also when nothing is waiting: for copies that the hot state has lost or that time has overtaken. */
export async function publish(
  parts: PublisherParts,
  space: PublicationSpace,
  target: PublicationTarget,
  when: 'pending' | 'always',
): Promise<void> {
  const { database, hotState } = parts
  if (space === 'control') return publishApiKey(database.control, hotState, target, when)
  const pool = database.in(space)
  switch (target.kind) {
    case 'meters':
      return publishMeters(pool, hotState, space, target, when)
    case 'offer':
      return publishOffer(pool, hotState, space, target, when)
    case 'customer':
      return publishCustomer(parts, space, target, when)
    case 'api-key':
      throw new Error('keys are published from the control schema')
  }
}

/** Targets differ, so they do not wait for each other; a few at a time leave connections to the requests. */
const concurrencyMax = 4

/**
 * Publishes what waits in a space, up to a number of targets, and returns how many there were. A target that fails
 * keeps no other from being published; the first failure is thrown at the end.
 */
export async function publishPending(
  parts: PublisherParts,
  space: PublicationSpace,
  targetsMax: number,
): Promise<number> {
  const pool = space === 'control' ? parts.database.control : parts.database.in(space)
  const targets = await listPendingTargets(pool, targetsMax)
  const waiting = targets.values()
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (const target of waiting) {
      await publish(parts, space, target, 'pending').catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: concurrencyMax }, work))
  if (failures.length > 0) {
    const message = `${failures.length} of ${targets.length} targets in ${space} could not be published`
    throw new Error(message, { cause: failures[0] })
  }
  return targets.length
}

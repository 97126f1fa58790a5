import { witnessOf } from '@tollgate/domain/publications/published-since'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments } from '@tollgate/schemas/environment'
import {
  publicationsProgressKey,
  publicationsStartKey,
  publishedKinds,
} from '@tollgate/schemas/hot-state/publications'

/** Marks the windows of all customers as published, as the control plane does. */
export async function markPublished(hotState: HotState, partitionCount: number): Promise<void> {
  const id = 'start-of-test'
  const start = { id, incarnation: await hotState.incarnation() }
  await hotState.putDocument(publicationsStartKey, JSON.stringify(start))
  for (const environment of environments) {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const entry = { version: 1, document: id, windows: [] }
      await hotState.putEntry(witnessOf(environment, partition), entry)
    }
  }
  const progress = { id, queuedTo: {}, published: publishedKinds }
  await hotState.putDocument(publicationsProgressKey, JSON.stringify(progress))
}

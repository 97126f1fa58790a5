import type { Repair } from '@tollgate/domain/reconciliation/finding'
import { publish } from '@tollgate/domain/publishing/publisher'
import { recountKey } from '@tollgate/schemas/hot-state/recounts'
import type { Environment } from '@tollgate/schemas/environment'
import { publisherOf, type Parts } from '../open-parts.ts'

/**
 * Makes again what the hot state has of something else: what is published at once, counts a moment later by whoever
 * counts the partition. Money, bills and the ledger are never repaired.
 */
export async function repair(
  parts: Parts,
  environment: Environment,
  repairs: readonly Repair[],
): Promise<void> {
  const publisher = publisherOf(parts)
  for (const each of repairs) {
    switch (each.kind) {
      case 'published': {
        const { providerId, customerRef: target } = each
        await publish(publisher, environment, { kind: 'customer', providerId, target }, 'always')
        break
      }
      case 'counts': {
        const wantedAt = publisher.now().toISOString()
        await parts.hotState.putDocument(recountKey(environment, each.partition), wantedAt)
      }
    }
  }
}

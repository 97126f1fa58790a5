import type { Repair } from '@tollgate/domain/reconciliation/finding'
import { publish } from '@tollgate/domain/publishing/publisher'
import { recountKey } from '@tollgate/schemas/hot-state/recounts'
import type { Environment } from '@tollgate/schemas/environment'
import { publisherOf, type Parts } from '../open-parts.ts'

/**
 * Repairs data in hot state that is derived from another store. Published documents are published again at once; counters are
 * rebuilt a moment later by the process that owns the partition. Money, bills and the ledger are never repaired.
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

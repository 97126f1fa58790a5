import type { Sql } from 'postgres'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { offerDocumentKey } from '@tollgate/schemas/hot-state/documents'
import { listPlans } from '../catalog/plans-repository.ts'
import { publishTargets, type PublishWhen } from './publish-targets.ts'
import type { TargetName } from '../publications/repository.ts'
import { documentsInFlightMax, forEachConcurrently } from '../postgres/for-each-concurrently.ts'
import { offerOf } from '../catalog/plan-offer.ts'
import { findProduct } from '../catalog/products-repository.ts'

/** Publishes what a denied limit check can show of the products. */
export async function publishOffers(
  pool: Sql,
  hotState: HotState,
  environment: Environment,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  await publishTargets(pool, 'offer', targets, when, (sql, due) =>
    forEachConcurrently(due, documentsInFlightMax, async ({ providerId, target: productRef }) => {
      const key = offerDocumentKey(environment, providerId, productRef)
      const product = await findProduct(sql, providerId, productRef)
      if (product === undefined) return hotState.deleteDocument(key)
      const plans = await listPlans(sql, providerId, [productRef])
      await hotState.putDocument(key, JSON.stringify(offerOf(product, plans)))
    }),
  )
}

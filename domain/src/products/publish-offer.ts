import type { Sql } from 'postgres'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { offerDocumentKey } from '@tollgate/schemas/hot-state/documents'
import { listPlans } from '../plans/repository.ts'
import { publishTarget } from '../publications/publish-target.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { offerOf } from './offer.ts'
import { findProduct } from './repository.ts'

/** Tells the data plane what a denied limit check may show of the product. */
export async function publishOffer(
  pool: Sql,
  hotState: HotState,
  environment: Environment,
  target: PublicationTarget,
  when: 'pending' | 'always',
): Promise<void> {
  await publishTarget(pool, target, when, async (sql) => {
    const { providerId, target: productRef } = target
    const key = offerDocumentKey(environment, providerId, productRef)
    const product = await findProduct(sql, providerId, productRef)
    if (product === undefined) return hotState.deleteDocument(key)
    const plans = await listPlans(sql, providerId, [productRef])
    const document = offerOf(product, plans)
    await hotState.putDocument(key, JSON.stringify(document))
  })
}

import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import {
  findProduct,
  listProducts,
  type Product,
} from '@tollgate/domain/catalog/products-repository'
import type { Queryable } from '@tollgate/platform/database/database'
import { read, type ReadParts } from '../../access/read.ts'
import type { Portal } from './portal.ts'

/** More than anybody looks through; the newest ones. */
const productsShownMax = 50

export type OfferedProduct = Pick<Product, 'reference' | 'name' | 'description'>

/** What the customer has: products with a plan that runs, and the one of the last plan that does not. */
type Had = { readonly current: ReadonlySet<string>; readonly last: string | undefined }

/**
 * Products that the customer has no plan of and could choose one of: the one that the portal was opened for; for who has
 * no plan at all, that of the last one, or else whatever is on offer.
 */
export function readOfferedProducts(
  pages: ReadParts,
  { caller: { providerId, environment }, session }: Portal,
  { current, last }: Had,
): Promise<readonly OfferedProduct[]> {
  return read(pages, { providerId, environment }, async (sql) => {
    const hasPlan = current.size > 0
    const named = session.productRef ?? (hasPlan ? undefined : last)
    if (named !== undefined && current.has(named)) return []
    const product = named === undefined ? undefined : await findProduct(sql, providerId, named)
    const offered = await onOffer(sql, providerId, product === undefined ? [] : [product])
    if (offered.length > 0 || hasPlan) return offered
    const page = { limit: productsShownMax, offset: 0 }
    const { products } = await listProducts(sql, providerId, { ...page, status: 'active' })
    return onOffer(sql, providerId, products)
  })
}

async function onOffer(
  sql: Queryable,
  providerId: string,
  products: readonly Product[],
): Promise<readonly Product[]> {
  const references = products.map(({ reference }) => reference)
  const plans = (await listPlans(sql, providerId, references)).filter(isOffered)
  const withPlans = new Set(plans.map(({ productRef }) => productRef))
  return products.filter(({ reference, status }) => status === 'active' && withPlans.has(reference))
}

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

/** Maximum number of products, newest first. More would not help a customer to choose. */
const productsShownMax = 50

export type OfferedProduct = Pick<Product, 'reference' | 'name' | 'description'>

/** References of the customer's products with an active plan, and of the product of the last plan that ended. */
type HeldProducts = { readonly current: ReadonlySet<string>; readonly last: string | undefined }

/**
 * Returns products without a plan of the customer for which the customer can choose one. This is the product for which the portal
 * was opened. For a customer without any plan it is otherwise the product of the last plan, or every product on offer.
 */
export function readOfferedProducts(
  pages: ReadParts,
  { caller: { providerId, environment }, session }: Portal,
  { current, last }: HeldProducts,
): Promise<readonly OfferedProduct[]> {
  return read(pages, { providerId, environment }, async (sql) => {
    const hasPlan = current.size > 0
    const preferredRef = session.productRef ?? (hasPlan ? undefined : last)
    if (preferredRef !== undefined && current.has(preferredRef)) return []
    const product =
      preferredRef === undefined ? undefined : await findProduct(sql, providerId, preferredRef)
    const offered = await filterOffered(sql, providerId, product === undefined ? [] : [product])
    if (offered.length > 0 || hasPlan) return offered
    const page = { limit: productsShownMax, offset: 0 }
    const { products } = await listProducts(sql, providerId, { ...page, status: 'active' })
    return filterOffered(sql, providerId, products)
  })
}

async function filterOffered(
  sql: Queryable,
  providerId: string,
  products: readonly Product[],
): Promise<readonly Product[]> {
  const references = products.map(({ reference }) => reference)
  const plans = (await listPlans(sql, providerId, references)).filter(isOffered)
  const withPlans = new Set(plans.map(({ productRef }) => productRef))
  return products.filter(({ reference, status }) => status === 'active' && withPlans.has(reference))
}

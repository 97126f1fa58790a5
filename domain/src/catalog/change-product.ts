import { isDeepStrictEqual } from 'node:util'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { productObject } from './product-event.ts'
import { lockProduct, updateProduct, type Product } from './products-repository.ts'

/** Absent fields stay unchanged. */
export type ProductChange = {
  readonly [Field in ChangeableField]?: NonNullable<Product[Field]> | undefined
}

type ChangeableField = Exclude<keyof Product, 'reference' | 'isMcpPay' | 'createdAt' | 'updatedAt'>

export async function changeProduct(
  work: UnitOfWork,
  reference: string,
  change: ProductChange,
): Promise<Product | undefined> {
  const product = await lockProduct(work.sql, work.providerId, reference)
  if (product === undefined) return undefined
  const changed: Product = {
    ...product,
    name: change.name ?? product.name,
    description: change.description ?? product.description,
    imageUrl: change.imageUrl ?? product.imageUrl,
    productType: change.productType ?? product.productType,
    status: change.status ?? product.status,
    config: change.config ?? product.config,
    metadata: change.metadata ?? product.metadata,
    taxBehavior: change.taxBehavior ?? product.taxBehavior,
  }
  if (isDeepStrictEqual(changed, product)) return product
  const updated = { ...changed, updatedAt: work.now }
  await updateProduct(work.sql, work.providerId, updated)
  await recordEvent(work, 'product.updated', productObject(updated))
  if (isTakenOffSale(product, updated)) {
    await recordEvent(work, 'product.archived', productObject(updated))
  }
  await queuePublication(work, 'offer', reference)
  return updated
}

function isTakenOffSale(before: Product, after: Product): boolean {
  return after.status === 'inactive' && before.status !== 'inactive'
}

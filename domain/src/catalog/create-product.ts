import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { productObject } from './product-event.ts'
import { insertProduct, type Product } from './products-repository.ts'

export type NewProduct = Omit<Product, 'reference' | 'status' | 'createdAt' | 'updatedAt'>

export async function createProduct(work: UnitOfWork, fields: NewProduct): Promise<Product> {
  const product: Product = {
    ...fields,
    reference: generateReference('product'),
    status: 'active',
    createdAt: work.now,
    updatedAt: work.now,
  }
  await insertProduct(work.sql, work.providerId, product)
  await recordEvent(work, 'product.created', productObject(product))
  await queuePublication(work, 'offer', product.reference)
  return product
}

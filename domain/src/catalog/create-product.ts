import type { JsonObject } from '@tollgate/schemas/json-object'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { productObject } from './product-event.ts'
import { insertProduct, type Product, type TaxBehavior } from './products-repository.ts'

export type NewProduct = {
  readonly name: string
  readonly description: string | null
  readonly imageUrl: string | null
  readonly productType: string | null
  readonly isMcpPay: boolean
  readonly config: JsonObject | null
  readonly metadata: JsonObject
  readonly taxBehavior: TaxBehavior | null
}

export async function createProduct(work: UnitOfWork, fields: NewProduct): Promise<Product> {
  const product: Product = {
    name: fields.name,
    description: fields.description,
    imageUrl: fields.imageUrl,
    productType: fields.productType,
    isMcpPay: fields.isMcpPay,
    config: fields.config,
    metadata: fields.metadata,
    taxBehavior: fields.taxBehavior,
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

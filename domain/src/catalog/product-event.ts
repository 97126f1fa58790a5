import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../periods/periods.ts'
import type { Product } from './products-repository.ts'

/** Returns `data.object` of the product events. */
export function productObject(product: Product): EventObject<'product.created'> {
  return {
    id: product.reference,
    reference: product.reference,
    name: product.name,
    status: product.status,
    productType: product.productType,
    isManagedMcp: product.isMcpPay,
    isMcpPay: product.isMcpPay,
    created: unixSeconds(product.createdAt),
  }
}

import type { Plan } from '@tollgate/domain/plans/plan'
import type { Product } from '@tollgate/domain/products/repository'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { planToHttp } from './plan.ts'
import { present } from './present.ts'

export function productToHttp(product: Product, plans: readonly Plan[]): ProductBody {
  return {
    reference: product.reference,
    name: product.name,
    status: product.status,
    balance: product.balanceMinor,
    totalTransactions: product.totalTransactions,
    isMcpPay: product.isMcpPay,
    metadata: product.metadata,
    plans: plans.filter((plan) => plan.productRef === product.reference).map(planToHttp),
    createdAt: product.createdAt.toISOString(),
    updatedAt: product.updatedAt.toISOString(),
    ...present({
      description: product.description,
      imageUrl: product.imageUrl,
      productType: product.productType,
      config: product.config,
      taxBehavior: product.taxBehavior,
    }),
  }
}

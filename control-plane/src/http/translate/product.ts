import type { McpServer } from '@tollgate/domain/catalog/mcp-servers-repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { Product } from '@tollgate/domain/catalog/products-repository'
import { emptyTally, type ProductTally } from '@tollgate/domain/catalog/tallies'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { productMcpToHttp } from './mcp.ts'
import { planToHttp } from './plan.ts'
import { definedFields } from '../../domain/defined-fields.ts'

/** Parts of a product that are not in its own row. */
export type ProductParts = {
  readonly plans: readonly Plan[]
  /** Undefined if no customer has paid for the product. */
  readonly tally: ProductTally | undefined
  /** The MCP server of an MCP product. */
  readonly server: McpServer | undefined
  /** The address template of all MCP servers, which contains `{subdomain}`. */
  readonly proxyUrl: string
}

export function productToHttp(
  product: Product,
  { plans, tally = emptyTally, server, proxyUrl }: ProductParts,
): ProductBody {
  return {
    reference: product.reference,
    name: product.name,
    status: product.status,
    balance: tally.balanceMinor,
    totalTransactions: tally.totalTransactions,
    isMcpPay: product.isMcpPay,
    metadata: product.metadata,
    plans: plans.map(planToHttp),
    createdAt: product.createdAt.toISOString(),
    updatedAt: product.updatedAt.toISOString(),
    ...definedFields({
      description: product.description,
      imageUrl: product.imageUrl,
      productType: product.productType,
      config: product.config,
      mcp: server && productMcpToHttp(server, plans, proxyUrl),
      taxBehavior: product.taxBehavior,
    }),
  }
}

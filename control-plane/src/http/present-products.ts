import type { Queryable } from '@tollgate/platform/database/database'
import { listMcpServers } from '@tollgate/domain/catalog/mcp-servers-repository'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import type { Product } from '@tollgate/domain/catalog/products-repository'
import { listProductTallies } from '@tollgate/domain/catalog/tallies'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { Environment } from '@tollgate/schemas/environment'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { productToHttp } from './translate/product.ts'

/** Returns products in the shape of responses: with their plans, and with the MCP servers of MCP products. */
export async function presentProducts(
  sql: Queryable,
  { mcpProxyUrls }: { readonly mcpProxyUrls: Readonly<Record<Environment, string>> },
  { environment, providerId }: Caller,
  products: readonly Product[],
): Promise<ProductBody[]> {
  const references = products.map(({ reference }) => reference)
  const [plans, tallies] = await Promise.all([
    listPlans(sql, providerId, references),
    listProductTallies(sql, providerId, references),
  ])
  const servers = await listMcpServers(
    sql,
    providerId,
    products.filter(({ isMcpPay }) => isMcpPay).map(({ reference }) => reference),
  )
  return products.map((product) =>
    productToHttp(product, {
      plans: plans.filter(({ productRef }) => productRef === product.reference),
      tally: tallies.get(product.reference),
      server: servers.get(product.reference),
      proxyUrl: mcpProxyUrls[environment],
    }),
  )
}

export function presentProduct(
  parts: ReadParts & { readonly mcpProxyUrls: Readonly<Record<Environment, string>> },
  caller: Caller,
  product: Product,
): Promise<ProductBody> {
  return read(parts, caller, async (sql) => {
    const [body] = await presentProducts(sql, parts, caller, [product])
    return body!
  })
}

import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'
import { selectPage, type PageRange } from '../postgres/select-page.ts'

export type ProductStatus = 'active' | 'inactive' | 'suspended'
export type TaxBehavior = 'auto' | 'inclusive' | 'exclusive'

export type Product = {
  readonly reference: string
  readonly name: string
  readonly description: string | null
  readonly imageUrl: string | null
  readonly productType: string | null
  readonly status: ProductStatus
  readonly isMcpPay: boolean
  readonly config: JsonObject | null
  readonly metadata: JsonObject
  readonly taxBehavior: TaxBehavior | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

type ProductRow = {
  reference: string
  name: string
  description: string | null
  image_url: string | null
  product_type: string | null
  status: ProductStatus
  is_mcp_pay: boolean
  config: JsonObject | null
  metadata: JsonObject
  tax_behavior: TaxBehavior | null
  created_at: Date
  updated_at: Date
}

export type ProductFilter = {
  /** Part of the name or description. Case is ignored. */
  readonly search?: string | undefined
  readonly status?: ProductStatus | undefined
  readonly isMcpPay?: boolean | undefined
} & PageRange

export async function insertProduct(
  sql: Queryable,
  providerId: string,
  product: Product,
): Promise<void> {
  await sql`
    insert into products
      (provider_id, reference, name, description, image_url, product_type, status, is_mcp_pay,
       config, metadata, tax_behavior, created_at, updated_at)
    values (${providerId}, ${product.reference}, ${product.name}, ${product.description},
      ${product.imageUrl}, ${product.productType}, ${product.status}, ${product.isMcpPay},
      ${jsonb(sql, product.config)}, ${jsonb(sql, product.metadata)}, ${product.taxBehavior},
      ${product.createdAt}, ${product.updatedAt})`
}

export async function updateProduct(
  sql: Queryable,
  providerId: string,
  product: Product,
): Promise<void> {
  await sql`
    update products set name = ${product.name}, description = ${product.description},
      image_url = ${product.imageUrl}, product_type = ${product.productType},
      status = ${product.status}, config = ${jsonb(sql, product.config)},
      metadata = ${jsonb(sql, product.metadata)}, tax_behavior = ${product.taxBehavior},
      updated_at = ${product.updatedAt}
    where provider_id = ${providerId} and reference = ${product.reference}`
}

export async function markProductRemoved(
  sql: Queryable,
  providerId: string,
  reference: string,
  removedAt: Date,
): Promise<void> {
  await sql`
    update products set removed_at = ${removedAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

export function findProduct(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Product | undefined> {
  return selectProduct(sql, providerId, reference, sql``)
}

/**
 * Locks the product. All changes of the product and of its plans start with this lock, so they run one after the other.
 */
export function lockProduct(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Product | undefined> {
  return selectProduct(sql, providerId, reference, sql`for update`)
}

/**
 * Prevents the removal of the product until the transaction ends. Several transactions can do this at the same time.
 */
export function lockProductAgainstRemoval(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Product | undefined> {
  return selectProduct(sql, providerId, reference, sql`for key share`)
}

async function selectProduct(
  sql: Queryable,
  providerId: string,
  reference: string,
  locking: Fragment,
): Promise<Product | undefined> {
  const [row] = await sql<ProductRow[]>`
    select * from products
    where provider_id = ${providerId} and reference = ${reference} and removed_at is null
    ${locking}`
  return row === undefined ? undefined : fromRow(row)
}

export async function listProducts(
  sql: Queryable,
  providerId: string,
  filter: ProductFilter,
): Promise<{ products: Product[]; total: number }> {
  const pattern = filter.search === undefined ? undefined : containsPattern(filter.search)
  const matching = sql`
    from products where provider_id = ${providerId} and removed_at is null
    ${pattern === undefined ? sql`` : sql`and (name ilike ${pattern} or description ilike ${pattern})`}
    ${filter.status === undefined ? sql`` : sql`and status = ${filter.status}`}
    ${filter.isMcpPay === undefined ? sql`` : sql`and is_mcp_pay = ${filter.isMcpPay}`}`
  const order = sql`created_at desc, reference`
  const { rows, total } = await selectPage<ProductRow>(sql, matching, order, filter)
  return { products: rows.map(fromRow), total }
}

export async function countProducts(sql: Queryable, providerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from products
    where provider_id = ${providerId} and removed_at is null`
  return row!.total
}

/** Returns product names keyed by reference, including removed products. */
export async function listProductNames(
  sql: Queryable,
  providerId: string,
  references: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ reference: string; name: string }[]>`
    select reference, name from products
    where provider_id = ${providerId} and reference = any(${[...references]}::text[])`
  return new Map(rows.map(({ reference, name }) => [reference, name]))
}

/** Escapes `%`, `_` and the escape character, so that they match only themselves. */
function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

function fromRow(row: ProductRow): Product {
  return {
    reference: row.reference,
    name: row.name,
    description: row.description,
    imageUrl: row.image_url,
    productType: row.product_type,
    status: row.status,
    isMcpPay: row.is_mcp_pay,
    config: row.config,
    metadata: row.metadata,
    taxBehavior: row.tax_behavior,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

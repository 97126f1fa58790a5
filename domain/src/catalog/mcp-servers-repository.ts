import type { Queryable } from '@tollgate/platform/database/database'
import type { CancelledCalls } from '@tollgate/schemas/http/mcp'
import type { Tool, ToolAccess } from './tool.ts'

/** The MCP server of an MCP product. */
export type McpServer = {
  readonly productRef: string
  readonly reference: string
  readonly subdomain: string
  readonly originUrl: string
  /** Credentials for the MCP server. Undefined if it needs none. */
  readonly auth: OriginAuth | undefined
  /** True while the provider has not mapped tools to plans. */
  readonly isAutoMapped: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Last change of the server's tools. Absent if they never changed. */
  readonly lastToolChange?: ToolChange
}

/** A change of the tools that the MCP server offers. */
export type ToolChange = {
  readonly at: Date
  /** Names of the tools. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export type OriginAuth = {
  readonly header: string
  /** Value of the header, sealed for `originAuthPlace`. */
  readonly sealedValue: string
}

/** Returns table, column and owner of the server credentials. Their encryption is bound to these values. */
export function originAuthPlace(providerId: string) {
  return { table: 'mcp_servers', column: 'auth_key', owner: providerId } as const
}

type McpServerRow = {
  product_ref: string
  reference: string
  subdomain: string
  origin_url: string
  auth_header: string | null
  auth_key: string | null
  is_auto_mapped: boolean
  created_at: Date
  updated_at: Date
}

type ToolChangeRow = {
  tools_changed_at: Date | null
  tools_added: string[]
  tools_removed: string[]
}

type StoredRow = McpServerRow & ToolChangeRow

type ToolRow = {
  name: string
  description: string | null
  access: ToolAccess
  plan_refs: string[]
  only_listed_plans: boolean
  cancelled_calls: CancelledCalls | null
  vanished_at: Date | null
}

/** Returns false if the subdomain is taken. */
export async function insertMcpServer(
  sql: Queryable,
  providerId: string,
  server: McpServer,
): Promise<boolean> {
  const rows = await sql`
    insert into mcp_servers ${sql({ provider_id: providerId, ...toRow(server) })}
    on conflict (subdomain) do nothing
    returning 1`
  return rows.length === 1
}

export async function updateMcpServer(
  sql: Queryable,
  providerId: string,
  server: McpServer,
): Promise<void> {
  const { originUrl, auth, isAutoMapped, updatedAt } = server
  await sql`
    update mcp_servers set origin_url = ${originUrl}, auth_header = ${auth?.header ?? null},
      auth_key = ${auth?.sealedValue ?? null}, is_auto_mapped = ${isAutoMapped},
      updated_at = ${updatedAt}
    where provider_id = ${providerId} and product_ref = ${server.productRef}`
}

export async function recordToolChange(
  sql: Queryable,
  providerId: string,
  productRef: string,
  { at, added, removed }: ToolChange,
): Promise<void> {
  await sql`
    update mcp_servers set tools_changed_at = ${at}, tools_added = ${[...added]}::text[],
      tools_removed = ${[...removed]}::text[]
    where provider_id = ${providerId} and product_ref = ${productRef}`
}

export async function findMcpServer(
  sql: Queryable,
  providerId: string,
  productRef: string,
): Promise<McpServer | undefined> {
  const servers = await listMcpServers(sql, providerId, [productRef])
  return servers.get(productRef)
}

export type FoundMcpServer = {
  readonly providerId: string
  readonly productName: string
  readonly server: McpServer
}

/**
 * Returns the MCP server with the subdomain, together with its provider. Returns undefined if the server's product was
 * removed.
 */
export async function findMcpServerBySubdomain(
  sql: Queryable,
  subdomain: string,
): Promise<FoundMcpServer | undefined> {
  const [row] = await sql<(StoredRow & { provider_id: string; product_name: string })[]>`
    select server.*, products.name as product_name from mcp_servers server
    join products on products.provider_id = server.provider_id
      and products.reference = server.product_ref
    where server.subdomain = ${subdomain} and products.removed_at is null`
  if (row === undefined) return undefined
  return { providerId: row.provider_id, productName: row.product_name, server: fromRow(row) }
}

/** Returns the given subdomains that are in use by a product of any provider. */
export async function listUsedSubdomains(
  sql: Queryable,
  subdomains: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ subdomain: string }[]>`
    select subdomain from mcp_servers where subdomain = any(${[...subdomains]}::text[])`
  return new Set(rows.map(({ subdomain }) => subdomain))
}

/** Returns the MCP servers keyed by product. Products without an MCP server are absent. */
export async function listMcpServers(
  sql: Queryable,
  providerId: string,
  productRefs: readonly string[],
): Promise<ReadonlyMap<string, McpServer>> {
  if (productRefs.length === 0) return new Map()
  const rows = await sql<StoredRow[]>`
    select * from mcp_servers
    where provider_id = ${providerId} and product_ref = any(${[...productRefs]}::text[])`
  return new Map(rows.map((row) => [row.product_ref, fromRow(row)]))
}

/** Returns the tools in the order in which they first became known. */
export async function listTools(
  sql: Queryable,
  providerId: string,
  productRef: string,
): Promise<Tool[]> {
  const rows = await sql<ToolRow[]>`
    select * from mcp_tools where provider_id = ${providerId} and product_ref = ${productRef}
    order by created_at, name`
  return rows.map((row) => ({
    name: row.name,
    description: row.description,
    access: row.access,
    planRefs: row.plan_refs,
    onlyListedPlans: row.only_listed_plans,
    cancelledCalls: row.cancelled_calls,
    hasVanished: row.vanished_at !== null,
  }))
}

/** Inserts the tools, or updates existing ones to the given values. Never removes a tool. */
export async function saveTools(
  sql: Queryable,
  providerId: string,
  productRef: string,
  tools: readonly Tool[],
  now: Date,
): Promise<void> {
  for (const tool of tools) {
    const row = {
      description: tool.description,
      access: tool.access,
      plan_refs: [...tool.planRefs],
      only_listed_plans: tool.onlyListedPlans,
      cancelled_calls: tool.cancelledCalls,
      vanished_at: tool.hasVanished ? now : null,
      updated_at: now,
    }
    const place = { provider_id: providerId, product_ref: productRef, name: tool.name }
    await sql`
      insert into mcp_tools ${sql({ ...place, ...row, created_at: now })}
      on conflict (provider_id, product_ref, name) do update set ${sql(row)}`
  }
}

/** Removes the plan from all tools of the product. */
export async function removePlanFromTools(
  sql: Queryable,
  providerId: string,
  productRef: string,
  planRef: string,
): Promise<void> {
  await sql`
    update mcp_tools set plan_refs = array_remove(plan_refs, ${planRef})
    where provider_id = ${providerId} and product_ref = ${productRef}
      and ${planRef} = any(plan_refs)`
}

/** Returns the given tool names that a product of the provider currently has. */
export async function findToolsInUse(
  sql: Queryable,
  providerId: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ name: string }[]>`
    select distinct tool.name from mcp_tools tool
    join products on products.provider_id = tool.provider_id
      and products.reference = tool.product_ref
    where tool.provider_id = ${providerId} and tool.name = any(${[...names]}::text[])
      and tool.vanished_at is null and products.removed_at is null`
  return new Set(rows.map(({ name }) => name))
}

function toRow(server: McpServer): McpServerRow {
  return {
    product_ref: server.productRef,
    reference: server.reference,
    subdomain: server.subdomain,
    origin_url: server.originUrl,
    auth_header: server.auth?.header ?? null,
    auth_key: server.auth?.sealedValue ?? null,
    is_auto_mapped: server.isAutoMapped,
    created_at: server.createdAt,
    updated_at: server.updatedAt,
  }
}

function fromRow(row: StoredRow): McpServer {
  const { auth_header: header, auth_key: sealedValue } = row
  return {
    productRef: row.product_ref,
    reference: row.reference,
    subdomain: row.subdomain,
    originUrl: row.origin_url,
    auth: header === null || sealedValue === null ? undefined : { header, sealedValue },
    isAutoMapped: row.is_auto_mapped,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...toolChangeIn(row),
  }
}

function toolChangeIn({
  tools_changed_at: at,
  tools_added: added,
  tools_removed: removed,
}: ToolChangeRow) {
  return at === null ? {} : { lastToolChange: { at, added, removed } }
}

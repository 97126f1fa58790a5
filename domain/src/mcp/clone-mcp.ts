import type { Product } from '../catalog/products-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addServer } from './bootstrap-mcp.ts'
import { findMcpServer, listTools, saveTools } from '../catalog/mcp-servers-repository.ts'

/**
 * Creates the MCP server for the copy of an MCP product. It has another subdomain and the same origin, credentials and
 * tools. `planTwins` maps the original's plans to the copy's plans.
 */
export async function cloneMcp(
  work: UnitOfWork,
  originalRef: string,
  copy: Product,
  planTwins: ReadonlyMap<string, string>,
): Promise<void> {
  const { sql, providerId, now } = work
  const original = await findMcpServer(sql, providerId, originalRef)
  if (original === undefined) return
  const { originUrl, auth, isAutoMapped } = original
  const fields = { productRef: copy.reference, originUrl, auth, isAutoMapped }
  await addServer(work, copy.name, fields)
  const tools = (await listTools(sql, providerId, originalRef)).map((tool) => ({
    ...tool,
    planRefs: tool.planRefs.flatMap((ref) => planTwins.get(ref) ?? []),
  }))
  await saveTools(sql, providerId, copy.reference, tools, now)
}

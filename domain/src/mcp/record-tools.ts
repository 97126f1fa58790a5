import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { lockMcpProduct, type LockedMcpProduct } from './configure-mcp.ts'
import { reconcileTools, type FoundTool, type Reconciled } from './decide-tools.ts'
import { productObject } from '../catalog/product-event.ts'
import { updateProduct, type Product } from '../catalog/products-repository.ts'
import { listTools, recordToolChange, saveTools } from '../catalog/mcp-servers-repository.ts'
import { ensureToolMeters, retireToolMeters } from '../catalog/tool-meters.ts'

export type RecordToolsOutcome =
  | (Reconciled & { readonly kind: 'recorded' })
  | Exclude<LockedMcpProduct, { kind: 'found' }>
  /** The server's origin URL was changed in the meantime. */
  | { readonly kind: 'outdated' }

/** Replaces the product's tools with those that its MCP server was found to have. */
export async function recordTools(
  work: UnitOfWork,
  productRef: string,
  originUrl: string,
  found: readonly FoundTool[],
): Promise<RecordToolsOutcome> {
  const { sql, providerId, now } = work
  const locked = await lockMcpProduct(work, productRef)
  if (locked.kind !== 'found') return locked
  const { server } = locked
  if (server.originUrl !== originUrl) return { kind: 'outdated' }
  const existing = await listTools(sql, providerId, productRef)
  const reconciled = reconcileTools(existing, found, server.isAutoMapped)
  const added = new Set(reconciled.added)
  await ensureToolMeters(
    work,
    found.filter(({ name }) => added.has(name)),
  )
  await saveTools(sql, providerId, productRef, reconciled.tools, now)
  await retireToolMeters(work, reconciled.removed)
  // The first discovery is not reported as a change, because no customer uses the tools yet.
  if (existing.length > 0) await emitToolChange(work, locked.product, reconciled)
  return { kind: 'recorded', ...reconciled }
}

/**
 * Stores the tool change on the product and emits `product.updated`, which reaches the provider's webhooks and event
 * list.
 */
async function emitToolChange(
  work: UnitOfWork,
  before: Product,
  { added, removed }: Reconciled,
): Promise<void> {
  if (added.length + removed.length === 0) return
  const { sql, providerId, now } = work
  await recordToolChange(sql, providerId, before.reference, { at: now, added, removed })
  const product = { ...before, updatedAt: now }
  await updateProduct(sql, providerId, product)
  await recordEvent(work, 'product.updated', productObject(product))
}

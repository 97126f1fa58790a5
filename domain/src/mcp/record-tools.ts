import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { lockMcpProduct, type LockedMcpProduct } from './configure-mcp.ts'
import { reconcileTools, type FoundTool, type Reconciled } from './decide-tools.ts'
import { listTools, saveTools } from './repository.ts'
import { ensureToolMeters, retireToolMeters } from './tool-meters.ts'

export type RecordToolsOutcome =
  | (Reconciled & { readonly kind: 'recorded' })
  | Exclude<LockedMcpProduct, { kind: 'found' }>
  /** The server's origin is another one by now. */
  | { readonly kind: 'outdated' }

/** The product's tools become those that its origin was found to have. */
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
  return { kind: 'recorded', ...reconciled }
}

import { toolMeterName, virtualTools } from '@tollgate/schemas/http/mcp'
import { insertMeter, lockMetersByName, updateMeter, type Meter } from '../meters/repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findToolsInUse } from './mcp-servers-repository.ts'
import type { Tool } from './tool.ts'

/** A tool as its MCP server lists it. */
type ListedTool = Pick<Tool, 'name' | 'description'>

/*
 * A tool's meter belongs to the provider: products with tools of the same name share the meter. Both functions lock the
 * meters before they decide. If one product gets a tool while another product loses it, the later transaction sees the
 * result of the earlier one. Call `ensureToolMeters` before new tools are saved, and `retireToolMeters` after removed
 * tools are saved.
 */

/** Creates or reactivates the meter of each tool. */
export async function ensureToolMeters(
  work: UnitOfWork,
  tools: readonly ListedTool[],
): Promise<void> {
  const counted = tools.filter(({ name }) => !virtualTools.has(name))
  if (counted.length === 0) return
  const { sql, providerId, now } = work
  for (const { name, description } of sortedByName(counted)) {
    const meter: Meter = {
      reference: generateReference('meter'),
      name: toolMeterName(name),
      displayName: name,
      description,
      aggregation: 'count',
      unit: 'call',
      status: 'active',
      reads: null,
      createdAt: now,
      updatedAt: now,
    }
    await insertMeter(sql, providerId, meter)
  }
  const names = counted.map(({ name }) => toolMeterName(name))
  for (const meter of await lockMetersByName(sql, providerId, names)) {
    if (meter.status === 'active') continue
    await updateMeter(sql, providerId, { ...meter, status: 'active', updatedAt: now })
  }
  await queuePublication(work, 'meters', '')
}

/** Archives the meters of tools that no product of the provider has any more. Their counted usage is kept. */
export async function retireToolMeters(work: UnitOfWork, tools: readonly string[]): Promise<void> {
  if (tools.length === 0) return
  const { sql, providerId, now } = work
  const meters = await lockMetersByName(sql, providerId, tools.map(toolMeterName))
  const inUse = await findToolsInUse(sql, providerId, tools)
  const kept = new Set([...inUse].map(toolMeterName))
  for (const meter of meters) {
    if (meter.status === 'archived' || kept.has(meter.name)) continue
    await updateMeter(sql, providerId, { ...meter, status: 'archived', updatedAt: now })
    await queuePublication(work, 'meters', '')
  }
}

/** Sorts the tools. All transactions insert and lock meters in this order, so they cannot deadlock. */
function sortedByName(tools: readonly ListedTool[]): ListedTool[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))
}

import { virtualTools, type McpToolInput, type ToolMappingInput } from '@tollgate/schemas/http/mcp'
import { findDuplicate, refusal, type McpRefusal } from './refusal.ts'
import type { Tool } from '../catalog/tool.ts'

export type ToolsDecision =
  { readonly kind: 'accepted'; readonly tools: readonly Tool[] } | McpRefusal

/** The plans that plan keys refer to. */
export type PlanNames = {
  readonly refByKey: ReadonlyMap<string, string>
  /** Plans that are no longer offered but that customers still have. */
  readonly archivedRefs: ReadonlySet<string>
}

/** Decides the tools of a product that is being created. */
export function declareTools(inputs: readonly McpToolInput[], names: PlanNames): ToolsDecision {
  for (const { planRefs = [], planIds = [] } of inputs) {
    const [unknown] = [...planRefs, ...planIds]
    if (unknown !== undefined) {
      const message = `No plan of this request has the reference ${unknown}: use planKeys`
      return refusal('UNKNOWN_PLAN_REFERENCE', message)
    }
  }
  const mapping = inputs.map(({ planKeys = [], ...input }) => ({ ...input, planKeys }))
  const decision = mapTools([], mapping, names)
  if (decision.kind === 'refused') return decision
  const descriptions = new Map(inputs.map(({ name, description }) => [name, description]))
  const tools = decision.tools.map((tool) => ({
    ...tool,
    description: descriptions.get(tool.name) ?? null,
  }))
  return { kind: 'accepted', tools }
}

/**
 * Applies the mapping to the tools that it names, and adds those that do not exist yet. All other tools stay unchanged.
 */
export function mapTools(
  existing: readonly Tool[],
  mapping: readonly ToolMappingInput[],
  names: PlanNames,
): ToolsDecision {
  const twice = findDuplicate(mapping.map(({ name }) => name))
  if (twice !== undefined) {
    return refusal('DUPLICATE_TOOL_NAME', `The tool ${twice} is named more than once`)
  }
  const tools = new Map(existing.map((tool) => [tool.name, tool]))
  for (const item of mapping) {
    const unknown = item.planKeys.find((key) => !names.refByKey.has(key))
    if (unknown !== undefined) {
      const message = `The tool ${item.name} names the plan key ${unknown}, which no plan has`
      return refusal('UNKNOWN_PLAN_KEY', message)
    }
    tools.set(item.name, mapTool(tools.get(item.name) ?? newTool(item.name), item, names))
  }
  return { kind: 'accepted', tools: [...tools.values()] }
}

/**
 * Applies one mapping to a tool. Customers with an archived plan keep the tools of that plan. A mapping without
 * `onlyListedPlans` keeps the current value, so it never opens a reserved tool.
 */
function mapTool(
  before: Tool,
  { planKeys, noPlan, ...policies }: ToolMappingInput,
  { refByKey, archivedRefs }: PlanNames,
): Tool {
  const { onlyListedPlans = before.onlyListedPlans, cancelledCalls = before.cancelledCalls } =
    policies
  const tool = { ...before, onlyListedPlans, cancelledCalls, hasVanished: false }
  if (noPlan === true) return { ...tool, access: 'public', planRefs: [] }
  const named = planKeys.flatMap((key) => refByKey.get(key) ?? [])
  const stillHeld = tool.planRefs.filter((ref) => archivedRefs.has(ref))
  const planRefs = [...new Set([...named, ...stillHeld])]
  return { ...tool, access: 'plans', planRefs }
}

function newTool(name: string): Tool {
  return {
    ...{ name, description: null, access: 'plans', planRefs: [] },
    ...{ onlyListedPlans: false, cancelledCalls: null, hasVanished: false },
  }
}

export type FoundTool = { readonly name: string; readonly description: string | null }

export type Reconciled = {
  readonly tools: readonly Tool[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/**
 * Compares the known tools with those that the MCP server lists. A new tool is available in every plan if the provider
 * has not mapped tools to plans, otherwise only in the default plan. A tool that returns is available to the same plans
 * as before.
 */
export function reconcileTools(
  existing: readonly Tool[],
  found: readonly FoundTool[],
  isAutoMapped: boolean,
): Reconciled {
  const access = isAutoMapped ? 'every-plan' : 'plans'
  const known = new Map(existing.map((tool) => [tool.name, tool]))
  const real = new Map(found.filter(({ name }) => !virtualTools.has(name)).map((t) => [t.name, t]))
  const present = [...real.values()].map(({ name, description }): Tool => {
    const tool = known.get(name) ?? { ...newTool(name), access }
    return { ...tool, description: description ?? tool.description, hasVanished: false }
  })
  const isHere = (name: string): boolean => known.get(name)?.hasVanished === false
  const absent = existing.filter(({ name }) => !real.has(name))
  return {
    tools: [...present, ...absent.map((tool) => ({ ...tool, hasVanished: true }))],
    added: present.map(({ name }) => name).filter((name) => !isHere(name)),
    removed: absent.filter(({ hasVanished }) => !hasVanished).map(({ name }) => name),
  }
}

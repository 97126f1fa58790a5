import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { PlanRefusalCode } from '../catalog/draft-plan.ts'

/** Codes that clients know, and those of plans that cannot be. */
export type McpRefusalCode =
  | 'INVALID_ORIGIN_URL'
  | 'UNKNOWN_PLAN_KEY'
  | 'UNKNOWN_PLAN_REFERENCE'
  | 'DUPLICATE_PLAN_KEY'
  | 'DUPLICATE_TOOL_NAME'
  | 'NOT_MCP_PRODUCT'
  | 'NO_MCP_SERVER'
  | PlanRefusalCode

export type McpRefusal = {
  readonly kind: 'refused'
  readonly code: McpRefusalCode
  readonly message: string
  /** What is wrong with which fields of the request, if it is about prices. */
  readonly issues?: readonly ValidationIssue[]
}

export function refusal(code: McpRefusalCode, message: string): McpRefusal {
  return { kind: 'refused', code, message }
}

/** The first that comes again. */
export function findTwice(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index)
}

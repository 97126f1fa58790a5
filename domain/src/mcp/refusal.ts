import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { PlanRefusalCode } from '../catalog/draft-plan.ts'

/** Codes that clients know, and the codes of refused plans. */
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
  /** Faults by field of the request. Present if the refusal is about prices or terms of plans. */
  readonly issues?: readonly ValidationIssue[]
}

export function refusal(code: McpRefusalCode, message: string): McpRefusal {
  return { kind: 'refused', code, message }
}

/** Returns the first name that occurs more than once. */
export function findDuplicate(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index)
}

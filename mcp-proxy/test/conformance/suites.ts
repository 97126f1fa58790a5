import { createRequire } from 'node:module'

/** One run of the official conformance suite against a server. */
export type Suite = {
  readonly name: string
  /** Program of the suite. It needs Node 22 or later, because it uses file-system functions that Node 20 lacks. */
  readonly program: string
  readonly parameters: readonly string[]
}

const { resolve } = createRequire(import.meta.url)
const stable = resolve('@modelcontextprotocol/conformance/dist/index.js')
const next = resolve('mcp-conformance-next/dist/index.js')

export const suites: readonly Suite[] = [
  { name: '0.1.16, all scenarios', program: stable, parameters: ['--suite', 'all'] },
  ...['2025-11-25', '2026-07-28'].map((revision) => ({
    name: `0.2.0-alpha.12, requirements of ${revision}`,
    program: next,
    parameters: ['--requirements', revision],
  })),
]

/**
 * Scenarios that fail directly at the origin. `io.modelcontextprotocol/tasks` is an extension. The suite runs it without counting
 * it, and the official SDK cannot serve it in 2026-07-28.
 */
export const beyondTheSdk: ReadonlySet<string> = new Set([
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
])

import type { RegisteredTool } from '@modelcontextprotocol/server'

/** One `tools/call` that reached the origin. */
export type ReceivedCall = {
  readonly toolName: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Whether the client ended it before it was answered. */
  isCancelled: boolean
}

/** What tools change outside their own answer, and what tests read of the origin. */
export type OriginControls = {
  readonly calls: ReceivedCall[]
  /** Whether `test_dynamic_tool` is listed. */
  hasDynamicTool: boolean
  /** That tool in the servers of open sessions, which send a notification when it is switched. */
  readonly dynamicTools: Set<Pick<RegisteredTool, 'enable' | 'disable'>>
  announce(changed: 'tools' | 'prompts'): void
}

import type { RegisteredTool } from '@modelcontextprotocol/server'

/** One `tools/call` that the origin received. */
export type ReceivedCall = {
  readonly toolName: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Whether the client cancelled the call before it was answered. */
  isCancelled: boolean
}

/** State that tools change in addition to their answers, and that tests read. */
export type OriginControls = {
  readonly calls: ReceivedCall[]
  /** Whether `test_dynamic_tool` is listed. */
  hasDynamicTool: boolean
  /** The tool in the servers of open sessions. They send a notification when it is enabled or disabled. */
  readonly dynamicTools: Set<Pick<RegisteredTool, 'enable' | 'disable'>>
  announce(changed: 'tools' | 'prompts'): void
}

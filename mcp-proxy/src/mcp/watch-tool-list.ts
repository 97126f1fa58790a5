import type { JsonObject } from '@tollgate/schemas/json-object'
import type { ServedServer } from '../servers/served-server.ts'
import type { McpParts } from './served-request.ts'

export const toolListChanged = 'notifications/tools/list_changed'

type Watched = Pick<McpParts, 'readServer' | 'config'>

/**
 * Calls `onChange` each time the tool list changes for clients because the provider changed its configuration or a discovery found
 * different tools. MCP servers should announce their own changes, but some do not. Returns a function that ends the watch.
 */
export function watchToolList(
  { readServer, config }: Watched,
  server: ServedServer,
  onChange: (notification: JsonObject) => void,
): () => void {
  let shown = listedOf(server)
  const look = async (): Promise<void> => {
    const current = await readServer(server)
    const listed = current === undefined ? shown : listedOf(current)
    if (listed === shown) return
    shown = listed
    onChange({ jsonrpc: '2.0', method: toolListChanged })
  }
  // A failed read is ignored: the next one compares again.
  const timer = setInterval(() => void look().catch(() => undefined), config.freshMs)
  return () => clearInterval(timer)
}

/** Returns what a tool list depends on: the names of the tools and whether each has a paywall. It is the same for all customers. */
function listedOf({ tools }: ServedServer): string {
  const listed = [...tools]
    .filter(([, { hasVanished }]) => hasVanished !== true)
    .map(([name, { access }]) => `${name} ${access === 'public'}`)
  return JSON.stringify(listed.sort())
}

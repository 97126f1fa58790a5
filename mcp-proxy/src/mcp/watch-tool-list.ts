import type { JsonObject } from '@tollgate/schemas/json-object'
import type { ServedServer } from '../servers/served-server.ts'
import type { McpParts } from './served-request.ts'

export const toolListChanged = 'notifications/tools/list_changed'

type Watched = Pick<McpParts, 'readServer' | 'config'>

/**
 * Calls `onChange` each time the list of tools is another one for clients because of what a provider has configured, or because
 * other tools were discovered. MCP servers announce their own changes, and some do not. Returns a function that ends it.
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
  // While the server cannot be read, nothing about it changes.
  const timer = setInterval(() => void look().catch(() => undefined), config.freshMs)
  return () => clearInterval(timer)
}

/** What lists depend on: which tools there are, and which of them have a paywall. They are the same for all customers. */
function listedOf({ tools }: ServedServer): string {
  const listed = [...tools]
    .filter(([, { hasVanished }]) => hasVanished !== true)
    .map(([name, { access }]) => `${name} ${access === 'public'}`)
  return JSON.stringify(listed.sort())
}

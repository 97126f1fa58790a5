import type { ServedServer } from '../servers/served-server.ts'

/** Returns whether a server can be used without a token. That is the case if it has tools and all of them are public. */
export function isOpenToAll({ tools }: ServedServer): boolean {
  if (tools.size === 0) return false
  for (const { access } of tools.values()) if (access !== 'public') return false
  return true
}

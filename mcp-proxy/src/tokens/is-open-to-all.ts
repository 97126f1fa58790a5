import type { ServedServer } from '../servers/served-server.ts'

/** Returns whether a server can be used without a token: all its tools are public, and it has some. */
export function isOpenToAll({ tools }: ServedServer): boolean {
  if (tools.size === 0) return false
  for (const { access } of tools.values()) if (access !== 'public') return false
  return true
}

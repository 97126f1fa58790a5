/** The versions with `initialize` and sessions. */
export const sessionVersions: ReadonlySet<string> = new Set([
  '2024-10-07',
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
])

/** The versions without sessions: each request carries everything that the server must know. */
export const statelessVersions: ReadonlySet<string> = new Set(['2026-07-28'])

/** The members of `_meta` that mark a request of the stateless versions. */
export const envelope = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
} as const

/** Returns whether a protocol version is stateless. Versions are dates, so unknown versions can be classified too. */
export function isStateless(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= '2026-07-28'
}

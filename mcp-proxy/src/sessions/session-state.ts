import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { parseJson } from '../protocol/parse-json.ts'
import { rewritten } from '../protocol/raw-json.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { ServedServer } from '../servers/served-server.ts'

/** What a session id holds: everything that a replica needs to go on with a session that another one began. */
export type SessionState = {
  readonly environment: string
  /** Reference of the MCP server. */
  readonly server: string
  /** Empty for a caller without a token. */
  readonly customerRef: string
  /** The origin's id; null where the origin has no sessions. */
  readonly originSession: string | null
  readonly version: string
  /** Name of the process that began it. */
  readonly process: string
  /** The `params` of the client's `initialize`. */
  readonly initialize: JsonObject
  /** The same as JSON that the client wrote, for doing it again at an origin that restarted. */
  readonly initializeText: string
  readonly expiresAtMs: number
}

/** Node and many proxies take 8 to 16 KB of headers in all. */
const idCharsMax = 4_096

/** What is opened stays in memory for thousands of sessions, and text that repeats itself is short when it is sealed. */
const stateCharsMax = 8_192

/** Returns undefined where the client said more about itself than an id can hold. */
export function sealSession(sealer: Sealer, state: SessionState): string | undefined {
  const { environment, server, customerRef, originSession, version, process, expiresAtMs } = state
  const { initialize, initializeText } = state
  const sealed = (params: string): string | undefined => {
    const ids: SealedIds = [environment, server, customerRef, originSession, version, process]
    const fields = [ids, params, expiresAtMs]
    if (JSON.stringify(fields).length > stateCharsMax) return undefined
    const id = sealer.seal('session', fields)
    return id !== undefined && id.length <= idCharsMax ? id : undefined
  }
  const whole = sealed(initializeText)
  if (whole !== undefined) return whole
  // Icons and descriptions of a client are of no use to a server; what it is able to do is.
  const { protocolVersion, capabilities, clientInfo } = initialize
  const { name, version: clientVersion } = isPlainObject(clientInfo) ? clientInfo : {}
  const short = { protocolVersion, capabilities, clientInfo: { name, version: clientVersion } }
  return sealed(rewritten(initializeText, initialize, short))
}

/** Returns undefined for an id that is not ours. */
export function readSession(sealer: Sealer, id: string): SessionState | undefined {
  if (id.length > idCharsMax) return undefined
  const opened = sealer.open('session', id)
  if (!Array.isArray(opened)) return undefined
  const [ids, initializeText, expiresAtMs] = opened as [SealedIds, string, number]
  const [environment, server, customerRef, originSession, version, process] = ids
  const initialize = parseJson(initializeText)
  if (!isPlainObject(initialize)) return undefined
  return {
    ...{ environment, server, customerRef, originSession, version, process },
    ...{ initialize, initializeText, expiresAtMs },
  }
}

type SealedIds = readonly [string, string, string, string | null, string, string]

/** Whether the session was begun by this customer at this server, and has not expired. */
export function isSessionOf(
  state: SessionState,
  server: ServedServer,
  customerRef: string,
  nowMs: number,
): boolean {
  if (state.environment !== server.environment || state.server !== server.reference) return false
  return state.customerRef === customerRef && state.expiresAtMs > nowMs
}

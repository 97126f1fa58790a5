import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { parseJson } from '../protocol/parse-json.ts'
import { rewritten } from '../protocol/raw-json.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { ServedServer } from '../servers/served-server.ts'

/** Content of a session id: everything that a replica needs to continue a session that another replica began. */
export type SessionState = {
  readonly environment: string
  /** Reference of the MCP server. */
  readonly server: string
  /** Reference of the customer. Empty for a caller without a token. */
  readonly customerRef: string
  /** Session id of the origin, or null if the origin has no sessions. */
  readonly originSession: string | null
  readonly version: string
  /** Id of the process that began the session. */
  readonly process: string
  /** The `params` of the client's `initialize`. */
  readonly initialize: JsonObject
  /** The same `params` as the JSON text that the client sent. It is sent again to an origin that restarted. */
  readonly initializeText: string
  readonly expiresAtMs: number
}

/** Maximum length of an id. Node and many proxies limit all headers together to 8 to 16 KB. */
const idCharsMax = 4_096

/**
 * Maximum length of the state. Opened states stay in memory for thousands of sessions, and repetitive text is short only while
 * sealed.
 */
const stateCharsMax = 8_192

/** Returns the session id, or undefined if the client's `initialize` is too long for an id. */
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
  // Keep the client's capabilities and drop its icons and descriptions, which servers do not need.
  const { protocolVersion, capabilities, clientInfo } = initialize
  const { name, version: clientVersion } = isPlainObject(clientInfo) ? clientInfo : {}
  const short = { protocolVersion, capabilities, clientInfo: { name, version: clientVersion } }
  return sealed(rewritten(initializeText, initialize, short))
}

/** Returns undefined for an id that the proxy did not create. */
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

/** Returns whether the session belongs to this customer and server, and has not expired. */
export function isSessionOf(
  state: SessionState,
  server: ServedServer,
  customerRef: string,
  nowMs: number,
): boolean {
  if (state.environment !== server.environment || state.server !== server.reference) return false
  return state.customerRef === customerRef && state.expiresAtMs > nowMs
}

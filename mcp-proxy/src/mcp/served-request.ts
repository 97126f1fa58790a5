import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { McpProxyConfig } from '../config.ts'
import type { ClientAbilities, Gate } from '../gate/gate.ts'
import type { ProxyMetrics } from '../metrics.ts'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import type { OriginClient } from '../origin/origin-client.ts'
import type { MessageId } from '../protocol/messages.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { ServedServer } from '../servers/served-server.ts'
import type { ToolWatch } from '../servers/tool-watch.ts'
import type { OriginSessions } from '../sessions/origin-sessions.ts'
import type { OpenCalls } from './open-calls.ts'
import type { OpenRequests } from './open-requests.ts'
import type { OpenStreams } from './open-streams.ts'

/** The parts that serve messages of MCP. */
export type McpParts = {
  readonly config: McpProxyConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ProxyMetrics
  readonly gate: Gate
  readonly origin: OriginClient
  readonly sessions: OriginSessions
  readonly sealer: Sealer
  readonly openCalls: OpenCalls
  readonly openRequests: OpenRequests
  /** Notifications, responses and ends of sessions. */
  readonly openOneWay: OpenRequests
  readonly streams: OpenStreams
  readonly toolWatch: ToolWatch
  /** The server as it is configured now; undefined if it is not there any more. */
  readonly readServer: (server: ServedServer) => Promise<ServedServer | undefined>
}

/** One request message, with all that is known of where it came from. */
export type ServedRequest = {
  readonly parts: McpParts
  readonly server: ServedServer
  /** Undefined for a caller without a token, who may use public tools. */
  readonly customerRef: string | undefined
  readonly client: ClientAbilities
  /** Those that the origin gets, without those of the trace and of a session. */
  readonly clientHeaders: Readonly<Record<string, string>>
  /** Name of the session and the request in it, by which the client can cancel it; undefined outside sessions. */
  readonly callKey: string | undefined
  /** The request's id at the origin, where that is not the client's. */
  readonly originId?: MessageId
  /** Whether the client has ended the session since; undefined outside sessions. */
  readonly hasEnded?: () => boolean
  /** Ends a stream of notifications when the proxy stops. */
  readonly stopped?: AbortSignal
  /** Sends a message to the origin in the era of the client. */
  readonly post: (body: string, id: MessageId, signal: AbortSignal) => Promise<OriginAnswer>
}

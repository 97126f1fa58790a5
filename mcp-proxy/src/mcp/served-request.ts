import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { McpProxyConfig } from '../config.ts'
import type { ClientCapabilities, Gate } from '../gate/gate.ts'
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

/** The parts that serve MCP messages. */
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
  /** Places of notifications, responses and requests that end sessions. */
  readonly openOneWay: OpenRequests
  readonly streams: OpenStreams
  readonly toolWatch: ToolWatch
  /** Returns the current configuration of the server, or undefined if the server no longer exists. */
  readonly readServer: (server: ServedServer) => Promise<ServedServer | undefined>
}

/** One request message, with everything known about its sender. */
export type ServedRequest = {
  readonly parts: McpParts
  readonly server: ServedServer
  /** Undefined for a caller without a token, who may only use public tools. */
  readonly customerRef: string | undefined
  readonly client: ClientCapabilities
  /** Headers of the client that are sent to the origin, except those of the trace and of the session. */
  readonly clientHeaders: Readonly<Record<string, string>>
  /** Key of the request within its session, by which the client can cancel it. Undefined outside sessions. */
  readonly callKey: string | undefined
  /** Id of the request at the origin, if it differs from the client's id. */
  readonly originId?: MessageId
  /** Returns whether the client cancelled the request before it was sent, also by ending its session. Undefined outside sessions. */
  readonly isCancelled?: () => boolean
  /** Signal that ends a stream of notifications when the proxy stops. */
  readonly stopped?: AbortSignal
  /** Sends a message to the origin in the protocol era of the client. */
  readonly post: (body: string, id: MessageId, signal: AbortSignal) => Promise<OriginAnswer>
}

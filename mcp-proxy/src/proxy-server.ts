import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Span, TraceHeaders, Tracing } from '@tollgate/platform/observability/tracing'
import { serveMcp, type McpEndpoint } from './mcp/serve-mcp.ts'
import type { ServerDirectory } from './servers/server-directory.ts'
import { sendError } from './http/send-response.ts'
import type { ControlPlaneForwarder } from './http/control-plane-forwarder.ts'
import { sendResourceMetadata } from './http/resource-metadata.ts'
import type { Route } from './http/route.ts'

export type ProxyServerParts = {
  readonly endpoint: McpEndpoint
  readonly route: (host: string, url: string) => Route | undefined
  readonly servers: ServerDirectory
  readonly forwarder: ControlPlaneForwarder
  readonly tracing: Tracing | undefined
  readonly logger: Logger
}

/** The public HTTP server of the proxy. */
export class ProxyServer {
  readonly #parts: ProxyServerParts
  readonly #server: Server

  constructor(parts: ProxyServerParts) {
    this.#parts = parts
    const { requestTimeoutMs } = parts.endpoint.parts.config
    const options = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }
    this.#server = createServer({ ...options, keepAliveTimeout: 75_000 }, (request, response) => {
      void this.#serve(request, response)
    })
    // Each pipelined request adds a listener to its socket, so the limit for warnings about listeners is removed.
    this.#server.on('connection', (socket) => socket.setMaxListeners(0))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => resolve())
    })
  }

  /** Accepts no more requests. Open requests may finish within `graceMs`. After that, their connections are closed. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#parts.endpoint.parts.streams.closeAll()
    // `close` closes only the connections that are idle now. The sweep closes the others when their last answer ends; otherwise
    // they would stay open until the clients close them.
    const sweeper = setInterval(() => this.#server.closeIdleConnections(), idleSweepMs)
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs)
    await closed
    clearInterval(sweeper)
    clearTimeout(timer)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begunAt = performance.now()
    const { tracing, logger, endpoint } = this.#parts
    const { method = '' } = request
    response.on('error', () => response.destroy())
    closeUnread(response, endpoint.parts.config.unreadMs)
    const headers = traceHeadersOf(request)
    const span = tracing?.receive(`MCP ${method}`, headers, { 'http.request.method': method })
    response.once('close', () => {
      span?.end()
      if (method === 'GET') return
      const seconds = (performance.now() - begunAt) / 1_000
      endpoint.parts.metrics.requestSeconds.observe(
        { method: knownMethods.has(method) ? method : 'other', status: response.statusCode },
        seconds,
      )
    })
    try {
      await runInSpan(span, () => this.#dispatch(request, response, traceOf(headers, span)))
    } catch (error) {
      logger.error({ err: error }, 'a request failed')
      if (response.headersSent) response.destroy()
      else sendUnavailable(response)
    }
  }

  async #dispatch(
    request: IncomingMessage,
    response: ServerResponse,
    trace: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { route, servers, forwarder, endpoint } = this.#parts
    const found = route(request.headers.host ?? '', request.url ?? '/')
    const server = found && (await servers.get(found.environment, found.subdomain))
    if (found === undefined || server === undefined) {
      return sendError(response, 404, 'No MCP server has this address.')
    }
    switch (found.target.kind) {
      case 'mcp':
        return serveMcp(endpoint, server, request, response, trace)
      case 'authorization':
        return forwarder.forward(request, response, server, found.target.path)
      case 'resource-metadata':
        return sendResourceMetadata(request, response, server)
      case 'unknown':
        return sendError(response, 404, 'Not Found')
    }
  }
}

/** Milliseconds between two sweeps for idle connections while the server stops. */
const idleSweepMs = 50

const knownMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'OPTIONS'])

/**
 * Closes the connection of a client that does not read data waiting for it. Waiting for a slow origin does not close the
 * connection.
 */
function closeUnread(response: ServerResponse, unreadMs: number): void {
  response.setTimeout(unreadMs, () => {
    if ((response.socket?.writableLength ?? 0) > 0) response.destroy()
  })
}

function sendUnavailable(response: ServerResponse): void {
  response.setHeader('retry-after', '2')
  sendError(response, 503, 'The MCP proxy cannot serve this now. Try again later.')
}

function traceHeadersOf({ headers }: IncomingMessage): Partial<TraceHeaders> {
  const { traceparent, tracestate } = headers
  return {
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(typeof tracestate === 'string' && { tracestate }),
    ...(typeof headers['baggage'] === 'string' && { baggage: headers['baggage'] }),
  }
}

/**
 * Returns the trace headers for the origin. Its span becomes a child of the proxy's span, or of the client's span if tracing is
 * off.
 */
function traceOf(
  received: Partial<TraceHeaders>,
  span: Span | undefined,
): Readonly<Record<string, string>> {
  return { ...received, ...span?.headers }
}

function runInSpan<Result>(span: Span | undefined, work: () => Result): Result {
  return span === undefined ? work() : span.run(work)
}

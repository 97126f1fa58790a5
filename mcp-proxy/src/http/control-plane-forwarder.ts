import { Agent, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as TlsAgent, request as sendTlsRequest } from 'node:https'
import type { Logger } from '@tollgate/platform/observability/logger'
import { isTrusted, type TrustedProxies } from '@tollgate/platform/service/trusted-proxies'
import type { ServedServer } from '../servers/served-server.ts'
import { sendError, sendJson } from './answers.ts'

/** Headers of one connection, which end with it (RFC 9110, 7.6.1). */
const hopHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'forwarded', 'x-forwarded-host'],
  ...['x-forwarded-proto', 'x-forwarded-for', 'x-forwarded-port', 'expect'],
])

const connectionsMax = 64

/** Forwards requests to a server's authorization server, which the control plane runs. Bodies, cookies and redirects stay as they are. */
export class ControlPlaneForwarder {
  readonly #base: URL
  readonly #timeoutMs: number
  readonly #logger: Logger
  readonly #agent: Agent
  readonly #trusted: TrustedProxies

  constructor(controlPlaneUrl: string, timeoutMs: number, trusted: TrustedProxies, logger: Logger) {
    this.#base = new URL(controlPlaneUrl)
    this.#timeoutMs = timeoutMs
    this.#trusted = trusted
    this.#logger = logger
    const options = { keepAlive: true, maxSockets: connectionsMax, timeout: 60_000 }
    this.#agent = this.#base.protocol === 'https:' ? new TlsAgent(options) : new Agent(options)
  }

  forward(
    request: IncomingMessage,
    response: ServerResponse,
    server: ServedServer,
    path: string,
  ): void {
    const send = this.#base.protocol === 'https:' ? sendTlsRequest : sendRequest
    const { environment, subdomain } = server
    const below = `/oauth/${environment}/${subdomain}`
    const url = new URL(below + path, this.#base)
    // Dot segments would lead to other servers, or to the management API.
    if (!url.pathname.startsWith(`${below}/`)) return sendError(response, 404, 'Not Found')
    const upstream = send(url, {
      method: request.method,
      agent: this.#agent,
      headers: headersFor(request, server, this.#trusted),
      timeout: this.#timeoutMs,
    })
    upstream.on('timeout', () => upstream.destroy(new Error('no answer in time')))
    upstream.on('error', (error) => {
      if (response.destroyed) return
      this.#logger.warn({ err: error }, 'the control plane did not answer')
      if (response.headersSent) return void response.destroy()
      const message = { error: 'temporarily_unavailable', error_description: 'Try again later.' }
      response.setHeader('retry-after', '2')
      sendJson(response, 503, JSON.stringify(message))
    })
    upstream.on('response', (answer) => {
      for (const [name, value] of Object.entries(answer.headers)) {
        if (value !== undefined && !hopHeaders.has(name)) response.setHeader(name, value)
      }
      response.writeHead(answer.statusCode ?? 502)
      answer.pipe(response)
    })
    response.on('close', () => {
      if (!response.writableFinished) upstream.destroy()
    })
    request.pipe(upstream)
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** The authorization server names its own addresses, which are those of the issuer whatever host the request came to. */
function headersFor(
  request: IncomingMessage,
  { issuer }: ServedServer,
  trusted: TrustedProxies,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !hopHeaders.has(name)) headers[name] = value
  }
  const { host, protocol } = new URL(issuer)
  const address = request.socket.remoteAddress ?? ''
  // What a client writes of itself is not passed on: it could name another network at each request.
  const before = isTrusted(trusted, address) ? request.headers['x-forwarded-for'] : undefined
  return {
    ...headers,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-for': before === undefined ? address : `${String(before)}, ${address}`,
  }
}

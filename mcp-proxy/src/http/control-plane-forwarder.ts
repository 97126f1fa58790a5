import { Agent, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as TlsAgent, request as sendTlsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import type { Logger } from '@tollgate/platform/observability/logger'
import { isTrusted, type TrustedProxies } from '@tollgate/platform/service/trusted-proxies'
import type { ServedServer } from '../servers/served-server.ts'
import { sendError, sendJson } from './send-response.ts'
import { readBody } from './read-body.ts'

/** Headers that apply to one connection only and are not forwarded (RFC 9110, 7.6.1). */
const hopHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'forwarded', 'x-forwarded-host'],
  ...['x-forwarded-proto', 'x-forwarded-for', 'x-forwarded-port', 'expect', 'content-length'],
])

const connectionsMax = 64

/** Larger than any form or client registration. */
const bodyBytesMax = 262_144

/**
 * Forwards requests to a server's authorization server, which the control plane runs. Bodies, cookies and redirects are not
 * changed.
 *
 * The whole body is read before the request is forwarded, and is sent with its length. Otherwise bytes of a client after a request
 * without a body would be parsed as a separate request on the proxy's connection, and slow clients would occupy all connections.
 */
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

  async forward(
    request: IncomingMessage,
    response: ServerResponse,
    server: ServedServer,
    path: string,
  ): Promise<void> {
    const send = this.#base.protocol === 'https:' ? sendTlsRequest : sendRequest
    const { environment, subdomain } = server
    const below = `/oauth/${environment}/${subdomain}`
    const url = new URL(below + path, this.#base)
    // Dot segments in the path would reach other servers or the management API.
    if (!url.pathname.startsWith(`${below}/`)) return sendError(response, 404, 'Not Found')
    const body = request.method === 'POST' ? await readBody(request, bodyBytesMax) : undefined
    if (body?.kind === 'aborted' || response.destroyed) return
    if (body?.kind === 'too-large') {
      response.setHeader('connection', 'close')
      return sendError(response, 413, 'Payload Too Large')
    }
    const length = body && { 'content-length': String(Buffer.byteLength(body.text)) }
    const upstream = send(url, {
      method: request.method,
      agent: this.#agent,
      headers: { ...headersFor(request, server, this.#trusted), ...length },
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
      // `pipeline` closes the client's response if the upstream response breaks off, so that the client does not take it for
      // complete.
      pipeline(answer, response, () => undefined)
    })
    response.on('close', () => {
      if (!response.writableFinished) upstream.destroy()
    })
    upstream.end(body?.text)
  }

  close(): void {
    this.#agent.destroy()
  }
}

/**
 * Returns the headers to forward. The authorization server builds its own URLs from them, which must be those of the issuer,
 * whatever host the request was sent to.
 */
function headersFor(
  request: IncomingMessage,
  { issuer }: ServedServer,
  trusted: TrustedProxies,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  const ofConnection = new Set(
    (request.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()),
  )
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || hopHeaders.has(name) || ofConnection.has(name)) continue
    headers[name] = value
  }
  const { host, protocol } = new URL(issuer)
  const address = request.socket.remoteAddress ?? ''
  // An `X-Forwarded-For` from an untrusted client is dropped, because the client could name another network in each request.
  const before = isTrusted(trusted, address) ? request.headers['x-forwarded-for'] : undefined
  return {
    ...headers,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-for': before === undefined ? address : `${String(before)}, ${address}`,
  }
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { z } from 'zod'
import { serveAdmin, type AdminParts } from '../admin/serve-admin.ts'
import { StripeApiError } from '../errors.ts'
import { apiVersion } from '../objects/event-log.ts'
import { simulatorOrigin } from '../objects/present.ts'
import { stylesheet } from '../pages/html.ts'
import {
  answerAuthentication,
  showAuthentication,
  showCardForm,
  submitCardForm,
  type PageAnswer,
} from '../pages/intent-pages.ts'
import type { Answer } from '../answer.ts'
import { parseForm } from '../api/read-parameters.ts'
import { serveApi, type ApiParts } from '../api/serve-api.ts'

export type ServerParts = ApiParts &
  AdminParts & {
    readonly origin: () => string
    /** Told of what is a bug of the simulator. */
    readonly onError: (error: unknown) => void
  }

const bodyBytesMax = 1_048_576

export function createHttpServer(parts: ServerParts): Server {
  // Longer than a client keeps an idle connection, so that it is never the server who hangs up first.
  return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.on('error', () => response.destroy())
    serve(parts, request, response).catch((error: unknown) => {
      parts.onError(error)
      const message = 'The simulator has failed: see its log.'
      sendJson(parts, response, { status: 500, body: { error: { type: 'api_error', message } } })
    })
  })
}

async function serve(
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  if (body === undefined) {
    const error = { type: 'invalid_request_error', message: 'The body is too large.' }
    return sendJson(parts, response, { status: 413, body: { error } })
  }
  const method = request.method ?? 'GET'
  const url = new URL(request.url ?? '/', 'http://simulator')
  if (url.pathname.startsWith('/v1/')) return await answerApi(parts, request, response, url, body)
  const [, root, ...rest] = url.pathname.split('/')
  if (root !== '_simulator') {
    return sendJson(parts, response, { status: 404, body: { error: { message: 'Not Found' } } })
  }
  if (method === 'GET' && rest.join('/') === 'pages.css') return sendStylesheet(response)
  const paged = answerPage(
    parts,
    method,
    rest,
    parseForm(method === 'POST' ? body : url.search.slice(1)),
  )
  if (paged !== undefined) return sendPage(response, paged)
  sendJson(parts, response, await answerAdmin(parts, request, rest.join('/'), body))
}

async function answerApi(
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  body: string,
): Promise<void> {
  const { headers } = request
  const key = headers['idempotency-key']
  const idempotencyKey = typeof key === 'string' && key !== '' ? key : undefined
  const reply = await serveApi(parts, {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.search.slice(1),
    body,
    authorization: headers.authorization,
    idempotencyKey,
  })
  switch (reply.kind) {
    case 'hang':
      return
    case 'reset':
      request.socket.resetAndDestroy()
      return
    case 'answer':
      response.setHeader('request-id', reply.requestId)
      response.setHeader('stripe-version', apiVersion)
      if (idempotencyKey !== undefined) response.setHeader('idempotency-key', idempotencyKey)
      if (reply.isReplay) response.setHeader('idempotent-replayed', 'true')
      return sendJson(parts, response, reply.answer)
  }
}

function answerPage(
  parts: ServerParts,
  method: string,
  [name, id = '']: readonly string[],
  fields: Readonly<Record<string, unknown>>,
): PageAnswer | undefined {
  switch (`${method} ${name}`) {
    case 'GET 3ds':
      return showAuthentication(parts, id, fields)
    case 'POST 3ds':
      return answerAuthentication(parts, id, fields)
    case 'GET card':
      return showCardForm(parts, id, fields)
    case 'POST card':
      return submitCardForm(parts, id, fields)
    default:
      return undefined
  }
}

/** JSON alone: a form of some other page, which a browser sends unasked, is not taken. */
async function answerAdmin(
  parts: ServerParts,
  request: IncomingMessage,
  path: string,
  body: string,
): Promise<Answer> {
  const isJson = request.headers['content-type']?.startsWith('application/json') === true
  if (request.method === 'POST' && !isJson) {
    return { status: 415, body: { error: { message: 'Send application/json.' } } }
  }
  try {
    const given: unknown = JSON.parse(body === '' ? '{}' : body)
    return await serveAdmin(parts, request.method ?? 'GET', path, given)
  } catch (error) {
    if (error instanceof StripeApiError)
      return { status: error.status, body: { error: error.body } }
    if (error instanceof z.ZodError || error instanceof SyntaxError) {
      return { status: 400, body: { error: { message: error.message } } }
    }
    throw error
  }
}

/** Undefined when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function sendJson({ origin }: ServerParts, response: ServerResponse, answer: Answer): void {
  const text = JSON.stringify(answer.body).replaceAll(simulatorOrigin, origin())
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(text)
}

/** The address holds a digest of the content, so browsers may keep it. */
function sendStylesheet(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  response.end(stylesheet)
}

function sendPage(response: ServerResponse, answer: PageAnswer): void {
  if (answer.kind === 'redirect') {
    response.writeHead(303, { location: answer.url })
    response.end()
    return
  }
  response.writeHead(answer.status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  response.end(answer.html)
}

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { JsonObject } from '@tollgate/schemas/json-object'

/** How the origin ends a call. The caller chooses it in the arguments. */
export type Ending =
  | 'result'
  /** A stream of events: progress, then the result. */
  | 'stream'
  | 'tool error'
  /** An error for the first call, a result for later ones. */
  | 'error at first'
  | 'protocol error'
  | 'status 500'
  | 'broken stream'
  /** Asks for input once or twice before the result. Only in the stateless versions. */
  | 'question'
  | 'two questions'
  /** Sends no answer until the caller disconnects. */
  | 'silence'

type Served = {
  readonly response: ServerResponse
  readonly id: unknown
  readonly given: JsonObject
}

/** An MCP server of both eras that answers as the arguments request, and counts executions. */
export class ToolOrigin {
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  readonly #tools = new Map<string, readonly string[]>()
  readonly #executions = new Map<string, number>()
  readonly #waiting = new Map<string, () => void>()

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Returns the URL of a separate server. */
  urlOf(name: string): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}/${name}`
  }

  list(name: string, tools: readonly string[]): void {
    this.#tools.set(name, tools)
  }

  /** Returns how often a call with the mark in its arguments has reached a tool. */
  executionsOf(mark: string): number {
    return this.#executions.get(mark) ?? 0
  }

  /** Resolves when a call with the mark has reached a tool. */
  whenExecuted(mark: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(mark, resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = JSON.parse((await text(request)) || '{}') as JsonObject
    const params = (message['params'] ?? {}) as JsonObject
    const id = message['id']
    const send = (result: JsonObject): void => sendResult(response, id, result)
    switch (message['method']) {
      case 'initialize':
        response.setHeader('mcp-session-id', 'origin-session')
        return send({
          ...{ protocolVersion: params['protocolVersion'], capabilities: { tools: {} } },
          serverInfo: { name: 'origin', version: '1' },
        })
      case 'tools/list': {
        const name = (request.url ?? '').slice(1)
        const inputSchema = { type: 'object' }
        return send({
          tools: (this.#tools.get(name) ?? []).map((tool) => ({ name: tool, inputSchema })),
        })
      }
      // Like a careless server, it executes everything that looks like a call.
      case 'tools/call':
        return this.#call({ response, id, given: params['arguments'] as JsonObject }, params)
      default:
        if (request.method === 'GET') return void response.writeHead(405).end()
        if (id === undefined) return void response.writeHead(202).end()
        return sendJson(response, { id, error: { code: -32_601, message: 'Method not found' } })
    }
  }

  #call(served: Served, { requestState }: JsonObject): void {
    const { response, id, given } = served
    const mark = String(given['mark'])
    this.#executions.set(mark, this.executionsOf(mark) + 1)
    this.#waiting.get(mark)?.()
    const ending = given['ending'] as Ending
    switch (ending) {
      case 'result':
        return sendResult(response, id, usable)
      case 'stream': {
        const event = openEvents(response)
        event({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
        event({ id, result: usable })
        return void response.end()
      }
      case 'tool error':
        return sendResult(response, id, { ...usable, isError: true })
      case 'error at first':
        return sendResult(response, id, { ...usable, isError: this.executionsOf(mark) === 1 })
      case 'protocol error':
        return sendJson(response, { id, error: { code: -32_000, message: 'Not now' } })
      case 'status 500':
        return void response.writeHead(500).end()
      case 'broken stream':
        openEvents(response)({ method: 'notifications/message', params: {} })
        return void setTimeout(() => response.destroy(), 5)
      case 'question':
        return requestState === undefined ? ask(served, 'last') : sendResult(response, id, usable)
      case 'two questions':
        if (requestState === undefined) return ask(served, 'first')
        return requestState === 'first' ? ask(served, 'last') : sendResult(response, id, usable)
      case 'silence':
        return
    }
  }
}

const usable = { resultType: 'complete', content: [{ type: 'text', text: 'served' }] }

function ask({ response, id }: Served, requestState: string): void {
  const question = { method: 'elicitation/create', params: { message: 'Which one?' } }
  const inputRequests = { which: question }
  sendResult(response, id, { resultType: 'input_required', requestState, inputRequests })
}

function sendResult(response: ServerResponse, id: unknown, result: JsonObject): void {
  sendJson(response, { id, result })
}

function sendJson(response: ServerResponse, message: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
}

function openEvents(response: ServerResponse): (message: JsonObject) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (message) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
}

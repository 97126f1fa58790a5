import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between a paywall and Tollgate that simulates network faults. */
export class FaultyFront {
  /**
   * `away` closes each connection. `silent` never responds. `unanswered` forwards usage and closes the connection before the
   * response.
   */
  fault: 'away' | 'silent' | 'unanswered' | undefined
  /** Number of bulk usage requests received. */
  bulkRequests = 0
  readonly #server: Server
  readonly #target: string

  static async start(target: string): Promise<FaultyFront> {
    const front = new FaultyFront(target)
    await new Promise<void>((resolve) => front.#server.listen(0, '127.0.0.1', resolve))
    return front
  }

  private constructor(target: string) {
    this.#target = target
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const isUsage = request.url === '/v1/sdk/usages/bulk'
    if (isUsage) this.bulkRequests += 1
    if (this.fault === 'silent') return
    if (this.fault === 'away') {
      request.socket.destroy()
      return
    }
    const { authorization = '' } = request.headers
    const answer = await fetch(`${this.#target}${request.url}`, {
      method: request.method!,
      headers: { authorization, 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    })
    const body = await answer.text()
    if (this.fault === 'unanswered' && isUsage) request.socket.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

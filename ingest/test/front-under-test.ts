import { createHash } from 'node:crypto'
import { unavailable } from '../src/http/answers.ts'
import type {
  Answer,
  CreateHttpFront,
  Fallback,
  FallbackAnswer,
  HotRoute,
  HttpFront,
} from '../src/http/http-front.ts'
import { NodeFront } from '../src/http/node-front.ts'
import { UwsFront } from '../src/http/uws-front.ts'
import { loadUws, UwsNotLoadableError } from '../src/http/uws-load.ts'
import { RawConnection } from './raw-connection.ts'

/**
 * True if the C library is too old for the native binary of this Node, so that there is no native front to test. Any other reason
 * that prevents loading fails the tests.
 */
export const lacksGlibcOfUws: boolean = await loadUws('pinned').then(
  () => false,
  (error: unknown) => error instanceof UwsNotLoadableError && error.neededGlibc !== undefined,
)

export async function createUwsFront(): Promise<CreateHttpFront> {
  const uws = await loadUws('pinned')
  return (options) => new UwsFront(uws, options)
}

export async function createNodeFront(): Promise<CreateHttpFront> {
  return (options) => new NodeFront(options)
}

export const testLimits = {
  bodyBytesMax: 100_000,
  discardedBytesMax: 1_000_000,
  collectedBytesMax: 400_000,
}

/** A front with a few routes that show what it passes to routes and how it sends their responses. */
export class FrontUnderTest {
  readonly front: HttpFront
  port = 0
  /** Requests that reached a route. */
  readonly calls: string[] = []
  readonly failures: unknown[] = []
  readonly refused: number[] = []
  fallback: Fallback = async () => ({ status: 200, headers: [], body: 'unset' })
  /** Makes the route `/gated` respond. */
  openGate: () => void = () => undefined
  readonly #gate = new Promise<void>((resolve) => {
    this.openGate = resolve
  })
  readonly #connections: RawConnection[] = []

  constructor(create: CreateHttpFront, readsTraceHeaders = false) {
    this.front = create({
      limits: testLimits,
      hotRoutes: this.#routes(),
      fallback: (request) => this.fallback(request),
      answerFailure: (error) => {
        this.failures.push(error)
        return unavailable('it failed')
      },
      onRefused: (status) => this.refused.push(status),
      readsTraceHeaders,
    })
  }

  async listen(): Promise<void> {
    this.port = await this.front.listen('127.0.0.1', 0)
  }

  async connect(): Promise<RawConnection> {
    const connection = await RawConnection.open(this.port)
    this.#connections.push(connection)
    return connection
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.destroy()
    await this.front.close(500)
  }

  #routes(): Map<string, HotRoute> {
    const route = (path: string, answer: HotRoute['answer']): [string, HotRoute] => [
      path,
      {
        refuse: ({ authorization }) =>
          authorization === 'no' ? { status: 401, body: '{"refused":true}' } : undefined,
        answer: (head, body) => {
          this.calls.push(path)
          return answer(head, body)
        },
      },
    ]
    return new Map([
      route('/echo', (head, body) => describeRequest(head.authorization, head.contentType, body)),
      route('/later', async (head, body) => {
        const answer = describeRequest(head.authorization, head.contentType, body)
        await new Promise((resolve) => setTimeout(resolve, 5))
        return answer
      }),
      route('/gated', async () => {
        await this.#gate
        return { status: 200, body: '{"gated":true}' }
      }),
      route('/traced', ({ trace }) => ({
        status: 200,
        body: JSON.stringify({ trace: trace ?? 'not read' }),
      })),
      route('/keys', ({ authorization, idempotencyKey }) => ({
        status: 200,
        body: JSON.stringify({ authorization, idempotencyKey }),
      })),
      route('/accents', () => ({ status: 200, body: '{"größe":"à ÿ"}' })),
      route('/wide', () => ({ status: 200, body: '{"größe":"漢字"}' })),
      route('/created', () => ({ status: 201, body: '{}', headers: [['x-more', 'yes']] })),
      route('/throws', () => {
        throw new Error('thrown')
      }),
      route('/rejects', () => Promise.reject(new Error('rejected'))),
    ])
  }
}

function describeRequest(authorization: string, contentType: string, body: Uint8Array): Answer {
  const sha256 = sha256Of(body)
  return {
    status: 200,
    body: JSON.stringify({ authorization, contentType, bytes: body.byteLength, sha256 }),
  }
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A fallback that responds with the parts of its request. */
export const echoFallback: Fallback = async (request): Promise<FallbackAnswer> => ({
  status: 200,
  headers: [['content-type', 'application/json']],
  body: JSON.stringify({
    method: request.method,
    target: request.target,
    headers: request.headers,
    body: Buffer.from(request.body).toString('utf8'),
    remoteAddress: request.remoteAddress,
  }),
})

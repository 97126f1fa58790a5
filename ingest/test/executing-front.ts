import type { CreateHttpFront, HttpFront } from '../src/http/http-front.ts'
import { testLimits } from './front-under-test.ts'
import { RawConnection } from './raw-connection.ts'

/** A front that records the body of each executed request, at the hot route `/hot` and at all other targets. */
export class ExecutingFront {
  readonly #front: HttpFront
  readonly #port: number
  readonly #executed: string[]

  static async listen(create: CreateHttpFront): Promise<ExecutingFront> {
    const executed: string[] = []
    const answer = { status: 200, body: '{}' }
    const execute = (body: Uint8Array): void => {
      executed.push(Buffer.from(body).toString('latin1'))
    }
    const hotRoute = {
      refuse: () => undefined,
      answer: (_head: unknown, body: Buffer) => {
        execute(body)
        return answer
      },
    }
    const front = create({
      limits: testLimits,
      hotRoutes: new Map([['/hot', hotRoute]]),
      fallback: async ({ body }) => {
        execute(body)
        return { ...answer, headers: [] }
      },
      answerFailure: () => ({ status: 500, body: '{}' }),
      onRefused: () => undefined,
      readsTraceHeaders: false,
    })
    const port = await front.listen('127.0.0.1', 0)
    return new ExecutingFront(front, port, executed)
  }

  private constructor(front: HttpFront, port: number, executed: string[]) {
    this.#front = front
    this.#port = port
    this.#executed = executed
  }

  get kind(): HttpFront['kind'] {
    return this.#front.kind
  }

  /** Sends the bytes on a new connection and waits until the front has closed it. */
  async send(
    packets: readonly string[],
  ): Promise<{ readonly statuses: number[]; readonly executed: readonly string[] }> {
    this.#executed.length = 0
    const connection = await RawConnection.open(this.#port)
    for (const packet of packets) await connection.write(Buffer.from(packet, 'latin1'))
    await connection.end()
    const text = await connection.until('nothing, as it is closed')
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
    return { statuses, executed: [...this.#executed] }
  }

  async close(): Promise<void> {
    await this.#front.close(0)
  }
}

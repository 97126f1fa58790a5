import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SinkResponse, SinkRequest, ReceivedDelivery } from './sink/protocol.ts'

export type Sink = {
  readonly url: string
  /** Returns the number of deliveries that arrived at least once, and of requests to `/hang`. */
  count(): Promise<{ readonly distinct: number; readonly hanging: number }>
  list(): Promise<readonly ReceivedDelivery[]>
  reset(): Promise<void>
  stop(): void
}

const program = fileURLToPath(new URL('../../../dist/bench/webhooks/sink/main.js', import.meta.url))

export async function startSink(): Promise<Sink> {
  const child = fork(program)
  const next = async (): Promise<SinkResponse> => {
    const [answer] = (await once(child, 'message')) as [SinkResponse]
    return answer
  }
  const send = async (request: SinkRequest): Promise<SinkResponse> => {
    const answer = next()
    child.send(request)
    return answer
  }
  const started = (await next()) as { port: number }
  return {
    url: `http://127.0.0.1:${started.port}`,
    count: async () => (await send('count')) as { distinct: number; hanging: number },
    list: async () => ((await send('list')) as { received: readonly ReceivedDelivery[] }).received,
    reset: async () => {
      await send('reset')
    },
    stop: () => child.disconnect(),
  }
}

/** Returns the number of requests in addition to the first of each delivery. */
export function duplicatesIn(list: readonly ReceivedDelivery[]): number {
  return list.reduce((sum, [, times]) => sum + times - 1, 0)
}

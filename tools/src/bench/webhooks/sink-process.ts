import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SinkAnswer, SinkQuestion, Taken } from './sink/protocol.ts'

export type Sink = {
  readonly url: string
  /** Returns the number of deliveries that arrived at least once, and of requests to `/hang`. */
  count(): Promise<{ readonly distinct: number; readonly hanging: number }>
  list(): Promise<readonly Taken[]>
  forget(): Promise<void>
  stop(): void
}

const program = fileURLToPath(new URL('../../../dist/bench/webhooks/sink/main.js', import.meta.url))

export async function startSink(): Promise<Sink> {
  const child = fork(program)
  const next = async (): Promise<SinkAnswer> => {
    const [answer] = (await once(child, 'message')) as [SinkAnswer]
    return answer
  }
  const ask = async (question: SinkQuestion): Promise<SinkAnswer> => {
    const answer = next()
    child.send(question)
    return answer
  }
  const started = (await next()) as { port: number }
  return {
    url: `http://127.0.0.1:${started.port}`,
    count: async () => (await ask('count')) as { distinct: number; hanging: number },
    list: async () => ((await ask('list')) as { taken: readonly Taken[] }).taken,
    forget: async () => {
      await ask('forget')
    },
    stop: () => child.disconnect(),
  }
}

/** Returns the number of requests in addition to the first of each delivery. */
export function duplicatesIn(list: readonly Taken[]): number {
  return list.reduce((sum, [, times]) => sum + times - 1, 0)
}

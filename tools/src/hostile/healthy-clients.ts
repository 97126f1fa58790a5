import {
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
} from '@tollgate/deploy/client/http-client'
import { startLanes } from '../load/lanes.ts'

export type HealthyLap = {
  /** How long each call took that was answered 200. */
  readonly latenciesMs: readonly number[]
  /** Everything else that came of a call, and how often. */
  readonly failures: ReadonlyMap<string, number>
}

export type HealthyClients = {
  /** What happened since the last lap, or the start. */
  lap(): HealthyLap
  /** Lets every call come to its answer. Calls answered 200 over all laps. */
  stop(): Promise<number>
}

export type HealthyOptions = {
  readonly baseUrl: string
  readonly key: string
  readonly call: (client: HttpClient) => Promise<HttpAnswer>
}

const clients = 16
/** A steady rate that leaves the machine room, so that a wait is somebody else's doing and not our own queue. */
const callEveryMs = 25
const timeoutMs = 30_000

/** Well-meaning clients over kept-alive connections, which measure how long each of their calls takes. */
export function startHealthyClients({ baseUrl, key, call }: HealthyOptions): HealthyClients {
  const http = createHttpClient({ baseUrl, key, connectionsMax: clients, timeoutMs })
  let answeredInAll = 0
  let latencies: number[] = []
  let failures = new Map<string, number>()

  async function callOnce(): Promise<number> {
    const startedMs = performance.now()
    const outcome = await call(http).then(
      ({ status }) => String(status),
      (error: unknown) => String(error),
    )
    const tookMs = performance.now() - startedMs
    if (outcome === '200') {
      latencies.push(tookMs)
      answeredInAll++
    } else failures.set(outcome, (failures.get(outcome) ?? 0) + 1)
    return Math.max(1, callEveryMs - tookMs)
  }
  const lanes = startLanes(Array.from({ length: clients }, () => callOnce))

  return {
    lap() {
      const lap = { latenciesMs: latencies, failures }
      latencies = []
      failures = new Map()
      return lap
    },
    async stop() {
      await lanes.stop()
      http.close()
      return answeredInAll
    },
  }
}

export function failureProblems(lap: HealthyLap, when: string): string[] {
  return [...lap.failures].map(
    ([outcome, times]) => `${times} healthy calls ${when} came to ${outcome}`,
  )
}

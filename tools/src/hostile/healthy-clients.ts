import {
  createHttpClient,
  type HttpResponse,
  type HttpClient,
} from '@tollgate/deploy/client/http-client'
import { startLanes } from '../load/lanes.ts'

export type HealthyResults = {
  /** Milliseconds of each call that was answered with 200. */
  readonly latenciesMs: readonly number[]
  /** Number of other outcomes of calls, by outcome. */
  readonly failures: ReadonlyMap<string, number>
}

export type HealthyClients = {
  /** Returns what happened since the last call or the start. */
  take(): HealthyResults
  /** Waits until every call is answered, and returns the number of calls answered with 200 over all laps. */
  stop(): Promise<number>
}

export type HealthyOptions = {
  readonly baseUrl: string
  readonly key: string
  readonly call: (client: HttpClient) => Promise<HttpResponse>
}

const clients = 16
/** Interval of a steady rate below the capacity of the machine, so that delays are caused by other clients and not by this load. */
const callEveryMs = 25
const timeoutMs = 30_000

/** Starts well-behaved clients with keep-alive connections that measure the duration of each call. */
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
    take() {
      const results = { latenciesMs: latencies, failures }
      latencies = []
      failures = new Map()
      return results
    },
    async stop() {
      await lanes.stop()
      http.close()
      return answeredInAll
    },
  }
}

export function failureProblems(results: HealthyResults, when: string): string[] {
  return [...results.failures].map(
    ([outcome, times]) => `${times} healthy calls ${when} ended with ${outcome}`,
  )
}

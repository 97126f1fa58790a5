import { requestWithRetries, defaultRetries } from '@tollgate/deploy/client/request-with-retries'
import type { SeededRandom } from '../../client/seeded-random.ts'
import type {
  TollgateClient,
  UnexpectedResponseError,
} from '@tollgate/deploy/client/tollgate-client'
import { runArrivals } from '../../load/arrivals.ts'
import { recordInLedgers, type CustomerLedger } from '../../load/ledger.ts'
import { retryRefusals } from '../../load/usage-load.ts'

export type SteadyLoadCounts = {
  readonly seconds: number
  /** Number of acknowledged events. */
  readonly acked: number
  /** Number of events that were sent again because a request got no answer or a 502 to 504. */
  readonly resent: number
  /** Refusals of valid requests, one line each. */
  readonly refusals: readonly string[]
}

export type SteadyLoad = {
  /** Returns the counts since the last call. */
  take(): SteadyLoadCounts
  /** Stops the load. Rejects if a request got no answer within the timeout. Otherwise everything sent is acknowledged. */
  stop(): Promise<void>
}

export type SteadyLoadOptions = {
  readonly client: TollgateClient
  readonly random: SeededRandom
  readonly run: string
  readonly productRef: string
  readonly ledgers: readonly CustomerLedger[]
  /** Events per second, independent of earlier answers. */
  readonly rate: number
}

const eventsPerRequest = 100
/** Maximum requests in flight. Further events wait, so that a service that is stopped is not flooded. */
export const requestsInFlightMax = 64
const refusalsMax = 20

/**
 * Sends events of 1 unit at a steady rate, spread over all customers, independent of earlier answers. Each event has an idempotency
 * key and is sent until it is acknowledged.
 */
export function startSteadyLoad(options: SteadyLoadOptions): SteadyLoad {
  const { client, random, run, productRef, ledgers, rate } = options
  let counts = new Counts()
  let keys = 0
  let isStopped = false

  async function sendBatch(): Promise<void> {
    const some = Array.from({ length: eventsPerRequest }, () => random.pick(ledgers))
    const usages = some.map(({ customerRef }) => ({
      customerRef,
      productRef,
      units: 1,
      idempotencyKey: `${run}:${keys++}`,
    }))
    const record = () => client.recordUsages(usages)
    const entries = some.map((ledger) => ({ ledger, units: 1 }))
    await recordInLedgers(entries, () =>
      requestWithRetries(
        () => retryRefusals(record, (refusal) => counts.addRefusal(refusal)),
        defaultRetries,
        () => (counts.resent += eventsPerRequest),
      ),
    )
    counts.acked += eventsPerRequest
  }
  const running = runArrivals({
    perSecond: rate / eventsPerRequest,
    shouldContinue: () => !isStopped,
    inFlightMax: requestsInFlightMax,
    act: sendBatch,
  })
  // The error is reported by `stop`, so it must not cause an unhandled rejection before.
  running.catch(() => undefined)
  return {
    take() {
      const taken = counts
      counts = new Counts()
      return taken.snapshot()
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}

class Counts {
  readonly #beganAtMs = performance.now()
  readonly #refusals = new Set<string>()
  acked = 0
  resent = 0

  addRefusal(refusal: UnexpectedResponseError): void {
    if (this.#refusals.size < refusalsMax) {
      this.#refusals.add(`usage was refused: ${refusal.message}`)
    }
  }

  snapshot(): SteadyLoadCounts {
    const { acked, resent } = this
    const seconds = (performance.now() - this.#beganAtMs) / 1000
    return { seconds, acked, resent, refusals: [...this.#refusals] }
  }
}

import { measuredCap } from '../client/measured-product.ts'
import type { SeededRandom } from '../client/seeded-random.ts'
import {
  UnexpectedResponseError,
  type TollgateClient,
} from '@tollgate/deploy/client/tollgate-client'
import { startLanes } from '../load/lanes.ts'
import { isPossibleCount, type CustomerLedger } from '../load/ledger.ts'

export type LimitWatchCounts = {
  readonly attempted: number
  readonly answered: number
  /** Milliseconds that each answer took. */
  readonly answeredMs: readonly number[]
  /**
   * Answers that lack units acknowledged before the check or include units that were not sent, and refusals of valid checks. One
   * line each.
   */
  readonly problems: readonly string[]
}

export type LimitWatch = {
  /** Returns the counts since the last call. */
  take(): LimitWatchCounts
  stop(): Promise<void>
}

export type LimitWatchOptions = {
  /** One client for each public URL. If one does not answer, the next one is used, as a load balancer would. */
  readonly clients: readonly TollgateClient[]
  readonly random: SeededRandom
  readonly productRef: string
  readonly ledgers: readonly CustomerLedger[]
  /** Number of concurrent checks. Default 2. */
  readonly lanes?: number
}

const restMs = 50
const problemsMax = 20

/**
 * Checks limits continuously and compares every answer with what the clients know: it must include everything acknowledged before
 * the check, and nothing that was not sent before the answer.
 */
export function watchLimits(options: LimitWatchOptions): LimitWatch {
  const { random, productRef, ledgers, lanes = 2 } = options
  let counts = new Counts()

  async function checkOnce(): Promise<number> {
    const ledger = random.pick(ledgers)
    const acked = ledger.units
    // A check is counted in the stretch in which it began, even if the answer arrives later.
    const own = counts
    own.attempted++
    const askedAtMs = performance.now()
    const answer = await checkWithFailover(options.clients, random, ledger.customerRef, productRef)
    if (answer === 'none') return restMs
    if (answer instanceof Error) {
      own.addProblem(`a limit check was refused: ${answer.message}`)
      return restMs
    }
    own.answeredMs.push(performance.now() - askedAtMs)
    const counted = measuredCap - answer
    if (!isPossibleCount(counted, acked, ledger)) {
      own.addProblem(
        `${new Date().toISOString()} ${ledger.customerRef}: ${counted} counted, ` +
          `${acked} were acked before the check and ${ledger.sentUnits} sent before the answer`,
      )
    }
    return restMs
  }
  const running = startLanes(Array.from({ length: lanes }, () => checkOnce))
  return {
    take() {
      const taken = counts
      counts = new Counts()
      return taken
    },
    stop: () => running.stop(),
  }
}

class Counts implements LimitWatchCounts {
  attempted = 0
  readonly answeredMs: number[] = []
  readonly #problems = new Set<string>()

  get answered(): number {
    return this.answeredMs.length
  }

  get problems(): readonly string[] {
    return [...this.#problems]
  }

  addProblem(line: string): void {
    if (this.#problems.size < problemsMax) this.#problems.add(line)
  }
}

/** Returns the remaining units, an error if the check was refused, or 'none' if no process could answer. */
async function checkWithFailover(
  clients: readonly TollgateClient[],
  random: SeededRandom,
  customerRef: string,
  productRef: string,
): Promise<number | UnexpectedResponseError | 'none'> {
  const first = random.integer(0, clients.length - 1)
  for (let at = 0; at < clients.length; at++) {
    try {
      const client = clients[(first + at) % clients.length]!
      return (await client.checkLimit(customerRef, productRef)).remaining
    } catch (error) {
      // Any HTTP answer is final. The next client is only used after a broken connection.
      if (error instanceof UnexpectedResponseError) return error.status < 502 ? error : 'none'
    }
  }
  return 'none'
}

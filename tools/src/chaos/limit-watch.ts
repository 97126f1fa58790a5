import { measuredCap } from '../client/measured-product.ts'
import type { SeededRandom } from '../client/seeded-random.ts'
import {
  UnexpectedResponseError,
  type TollgateClient,
} from '@tollgate/deploy/client/tollgate-client'
import { startLanes } from '../load/lanes.ts'
import { isTrue, type CustomerLedger } from '../load/ledger.ts'

export type LimitWatchCounts = {
  readonly asked: number
  readonly answered: number
  /** Milliseconds that each answer took. */
  readonly answeredMs: readonly number[]
  /**
   * Answers that lack units acknowledged before the check or include units that were not sent, and refusals of valid checks. One
   * line each.
   */
  readonly untrue: readonly string[]
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
const untrueMax = 20

/**
 * Checks limits continuously and compares every answer with what the clients know: it must include everything acknowledged before
 * the check, and nothing that was not sent before the answer.
 */
export function watchLimits(options: LimitWatchOptions): LimitWatch {
  const { random, productRef, ledgers, lanes = 2 } = options
  let counts = new Counts()

  async function ask(): Promise<number> {
    const ledger = random.pick(ledgers)
    const acked = ledger.units
    // A check is counted in the stretch in which it began, even if the answer arrives later.
    const own = counts
    own.asked++
    const askedAtMs = performance.now()
    const answer = await askAnyone(options.clients, random, ledger.customerRef, productRef)
    if (answer === 'none') return restMs
    if (answer instanceof Error) {
      own.note(`a limit check was refused: ${answer.message}`)
      return restMs
    }
    own.answeredMs.push(performance.now() - askedAtMs)
    const counted = measuredCap - answer
    if (!isTrue(counted, acked, ledger)) {
      own.note(
        `${new Date().toISOString()} ${ledger.customerRef}: ${counted} counted, ` +
          `${acked} were acked before the question and ${ledger.sentUnits} sent before the answer`,
      )
    }
    return restMs
  }
  const running = startLanes(Array.from({ length: lanes }, () => ask))
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
  asked = 0
  readonly answeredMs: number[] = []
  readonly #untrue = new Set<string>()

  get answered(): number {
    return this.answeredMs.length
  }

  get untrue(): readonly string[] {
    return [...this.#untrue]
  }

  note(line: string): void {
    if (this.#untrue.size < untrueMax) this.#untrue.add(line)
  }
}

/** Returns the remaining units, an error if the check was refused, or 'none' if no process could answer. */
async function askAnyone(
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

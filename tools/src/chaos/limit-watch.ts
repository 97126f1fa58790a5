import { measuredCap } from '../client/measured-product.ts'
import type { SeededRandom } from '../client/seeded-random.ts'
import { UnexpectedAnswerError, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { startLanes } from '../load/lanes.ts'
import { isTrue, type CustomerLedger } from '../load/ledger.ts'

export type LimitWatchCounts = {
  readonly asked: number
  readonly answered: number
  /** How long each answer took. */
  readonly answeredMs: readonly number[]
  /**
   * Answers that lack units acknowledged before the question, or hold units that nobody had sent, and refusals of what is
   * right. One line each.
   */
  readonly untrue: readonly string[]
}

export type LimitWatch = {
  /** What was seen since the last call of this. */
  take(): LimitWatchCounts
  stop(): Promise<void>
}

export type LimitWatchOptions = {
  /** One for each public address. The next one is asked where the first does not answer, as a load balancer does. */
  readonly clients: readonly TollgateClient[]
  readonly random: SeededRandom
  readonly productRef: string
  readonly ledgers: readonly CustomerLedger[]
  /** Questions at a time. Default 2. */
  readonly lanes?: number
}

const restMs = 50
const untrueMax = 20

/**
 * Asks for limits without a break, whatever happens meanwhile, and holds every answer to what the clients know: all
 * that was acknowledged before the question is in it, and nothing that was not sent before the answer.
 */
export function watchLimits(options: LimitWatchOptions): LimitWatch {
  const { random, productRef, ledgers, lanes = 2 } = options
  let counts = new Counts()

  async function ask(): Promise<number> {
    const ledger = random.pick(ledgers)
    const acked = ledger.units
    // Of the stretch in which it was asked, whenever the answer comes.
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

/** What is left, or why not; none when nobody could tell now. */
async function askAnyone(
  clients: readonly TollgateClient[],
  random: SeededRandom,
  customerRef: string,
  productRef: string,
): Promise<number | UnexpectedAnswerError | 'none'> {
  const first = random.integer(0, clients.length - 1)
  for (let at = 0; at < clients.length; at++) {
    try {
      const client = clients[(first + at) % clients.length]!
      return (await client.checkLimit(customerRef, productRef)).remaining
    } catch (error) {
      // An answer is an answer of the whole; only after a broken connection the next one is asked.
      if (error instanceof UnexpectedAnswerError) return error.status < 502 ? error : 'none'
    }
  }
  return 'none'
}

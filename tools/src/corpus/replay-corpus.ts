import type { CorpusAnswer, Exchange } from './exchange.ts'
import { isIntended } from './intended-differences.ts'
import type { Player } from './player.ts'

type Difference = {
  /** Position of the exchange in the corpus. */
  readonly number: number
  readonly exchange: Exchange
  readonly answer: CorpusAnswer
}

type Replay = {
  readonly differences: readonly Difference[]
  /** Number of answers that differ only by what later versions add on purpose. */
  readonly intended: number
}

/** Plays the requests of the corpus in order, and returns those that are answered differently. */
export async function replayCorpus(
  player: Player,
  exchanges: readonly Exchange[],
): Promise<Replay> {
  const differences: Difference[] = []
  let intended = 0
  for (const [number, exchange] of exchanges.entries()) {
    const answer = await player.play(exchange.request)
    if (isSame(exchange.answer, answer)) continue
    if (isIntended(exchange, answer)) intended += 1
    else differences.push({ number, exchange, answer })
  }
  return { differences, intended }
}

function isSame(one: CorpusAnswer, other: CorpusAnswer): boolean {
  return (
    one.status === other.status &&
    one.body === other.body &&
    JSON.stringify(one.headers) === JSON.stringify(other.headers)
  )
}

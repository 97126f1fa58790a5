import type { CorpusAnswer, Exchange } from './exchange.ts'
import type { Player } from './player.ts'

export type Difference = {
  /** Position of the exchange in the corpus. */
  readonly number: number
  readonly exchange: Exchange
  readonly answer: CorpusAnswer
}

/** Plays the requests of the corpus in order, and returns those that are answered differently. */
export async function replayCorpus(
  player: Player,
  exchanges: readonly Exchange[],
): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const [number, exchange] of exchanges.entries()) {
    const answer = await player.play(exchange.request)
    if (!isSame(exchange.answer, answer)) differences.push({ number, exchange, answer })
  }
  return differences
}

function isSame(one: CorpusAnswer, other: CorpusAnswer): boolean {
  return (
    one.status === other.status &&
    one.body === other.body &&
    JSON.stringify(one.headers) === JSON.stringify(other.headers)
  )
}

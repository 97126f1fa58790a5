import { measuredCap } from '../../client/measured-product.ts'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { quantile } from '../../load/statistics.ts'

/** Units of each customer: those that were posted, and those of them that were acknowledged. */
export class CustomerUnits {
  readonly #posted = new Map<string, number>()
  readonly #acknowledged = new Map<string, number>()

  posted(customerRef: string): number {
    return this.#posted.get(customerRef) ?? 0
  }

  acknowledged(customerRef: string): number {
    return this.#acknowledged.get(customerRef) ?? 0
  }

  async post(customerRef: string, units: number, send: () => Promise<unknown>): Promise<void> {
    this.#posted.set(customerRef, this.posted(customerRef) + units)
    await send()
    this.#acknowledged.set(customerRef, this.acknowledged(customerRef) + units)
  }
}

export type LoadResult = {
  /** Checks that were answered with all that was acknowledged before them, and with nothing that was not posted. */
  readonly correctPerSecond: number
  readonly wrong: number
  readonly refused: number
  readonly checkP99Ms: number
  readonly postsPerSecond: number
  readonly postsFailed: number
  readonly postP99Ms: number
}

export type Load = {
  readonly client: TollgateClient
  readonly productRef: string
  readonly customerRefs: readonly string[]
  readonly units: CustomerUnits
  readonly callers: number
  readonly posters: number
  readonly seconds: number
}

/** Callers that check limits as fast as they are answered, beside posters of single usage records. */
export async function runCheckedLoad(load: Load): Promise<LoadResult> {
  const { client, productRef, customerRefs, units, seconds } = load
  const untilMs = performance.now() + seconds * 1_000
  const checkMs: number[] = []
  const postMs: number[] = []
  const outcomes = { correct: 0, wrong: 0, refused: 0, postsFailed: 0 }
  const turn = (number: number): string => customerRefs[number % customerRefs.length]!

  const check = async (customerRef: string): Promise<void> => {
    const atLeast = units.acknowledged(customerRef)
    const { remaining } = await client.checkLimit(customerRef, productRef)
    const used = measuredCap - remaining
    const isCorrect = used >= atLeast && used <= units.posted(customerRef)
    outcomes[isCorrect ? 'correct' : 'wrong'] += 1
  }
  const post = (customerRef: string): Promise<void> =>
    units.post(customerRef, 1, () => client.recordUsage({ customerRef, productRef, units: 1 }))
  const repeat = async (
    act: (customerRef: string) => Promise<void>,
    times: number[],
    failure: 'refused' | 'postsFailed',
    first: number,
  ): Promise<void> => {
    for (let number = first; performance.now() < untilMs; number += 7) {
      const startedMs = performance.now()
      await act(turn(number)).catch(() => (outcomes[failure] += 1))
      times.push(performance.now() - startedMs)
    }
  }
  const startedMs = performance.now()
  await Promise.all([
    ...Array.from({ length: load.callers }, (_, n) => repeat(check, checkMs, 'refused', n)),
    ...Array.from({ length: load.posters }, (_, n) => repeat(post, postMs, 'postsFailed', n)),
  ])
  // An answer may have come long after the end.
  const tookSeconds = (performance.now() - startedMs) / 1_000
  return {
    ...outcomes,
    correctPerSecond: outcomes.correct / tookSeconds,
    checkP99Ms: quantile(checkMs, 0.99),
    postsPerSecond: (postMs.length - outcomes.postsFailed) / tookSeconds,
    postP99Ms: quantile(postMs, 0.99),
  }
}

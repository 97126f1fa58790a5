import { measuredCap } from '../../client/measured-product.ts'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { measureLanes, type LaneRate } from '../../load/lanes.ts'
import { recordInLedgers, isPossibleCount, type CustomerLedger } from '../../load/ledger.ts'

export type LoadResult = {
  /**
   * Correct limit checks per second. A correct answer includes all units acknowledged before the check, and none that were not
   * sent.
   */
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
  readonly ledgers: readonly CustomerLedger[]
  readonly callers: number
  readonly posters: number
  readonly seconds: number
}

/** Runs callers that check limits as fast as they are answered, next to posters of single usage records. */
export async function runCheckedLoad(load: Load): Promise<LoadResult> {
  const { client, productRef, ledgers, seconds } = load
  const outcomes = { correct: 0, wrong: 0, refused: 0, postsFailed: 0 }
  const check = async (ledger: CustomerLedger): Promise<void> => {
    const isCorrect = await isCountCorrect(client, productRef, ledger)
    outcomes[isCorrect ? 'correct' : 'wrong'] += 1
  }
  const post = (ledger: CustomerLedger): Promise<void> => {
    const usage = { customerRef: ledger.customerRef, productRef, units: 1 }
    return recordInLedgers([{ ledger, units: 1 }], () => client.recordUsage(usage))
  }
  let next = 0
  const repeat = (
    lanes: number,
    act: (ledger: CustomerLedger) => Promise<void>,
    failure: 'refused' | 'postsFailed',
  ): Promise<LaneRate> =>
    measureLanes(lanes, seconds, () =>
      act(ledgers[(next++ * 7) % ledgers.length]!).catch(() => (outcomes[failure] += 1)),
    )
  const startedMs = performance.now()
  const [checks, posts] = await Promise.all([
    repeat(load.callers, check, 'refused'),
    repeat(load.posters, post, 'postsFailed'),
  ])
  // The last answer may arrive long after the planned end, so the actual duration is measured.
  const tookSeconds = (performance.now() - startedMs) / 1_000
  return {
    ...outcomes,
    correctPerSecond: outcomes.correct / tookSeconds,
    checkP99Ms: checks.p99Ms,
    postsPerSecond: (posts.acts - outcomes.postsFailed) / tookSeconds,
    postP99Ms: posts.p99Ms,
  }
}

/** Returns whether the answer of a limit check includes all units acknowledged before the check, and none that were not sent. */
export async function isCountCorrect(
  client: TollgateClient,
  productRef: string,
  ledger: CustomerLedger,
): Promise<boolean> {
  const ackedBefore = ledger.units
  const { remaining } = await client.checkLimit(ledger.customerRef, productRef)
  return isPossibleCount(measuredCap - remaining, ackedBefore, ledger)
}

import { firstAnswers } from './first-answers.ts'
import { errorCode } from './wire/error-codes.ts'
import type { OffsetResult, PartitionState } from './wire/requests.ts'

/** Asks a broker where the partition ends, as of the leader's epoch that we know. */
export type AskBroker = (broker: number, state: PartitionState) => Promise<OffsetResult>

/** A follower that is silent for so long is not waited for alone. */
const patienceMs = 100
/** So long it is asked after the others. */
const silentMs = 5_000

/**
 * A leader that was suspended or cut off does not know that another one has taken over, and tells where the log ended
 * before. So brokers with a copy are asked as well whether they have heard of a later leader: who acknowledges records
 * needs most of the copies, and those learn of the leader before they take a record from it. At least one of any half of
 * the followers is among them, where `min.insync.replicas` is more than half of the copies.
 */
export class LeaderWitnesses {
  readonly #ask: AskBroker
  /** By broker, until when it counts as silent. */
  readonly #silent = new Map<number, number>()

  constructor(ask: AskBroker) {
    this.#ask = ask
  }

  /** Rejects when another leader has been heard of, or when too few followers answer. */
  async confirm(state: PartitionState): Promise<void> {
    const needed = Math.ceil(state.followers.length / 2)
    if (needed === 0) return
    const attempts = this.#inOrder(state.followers).map(
      (broker) => () => this.#knowsLaterLeader(broker, state),
    )
    const answers = await firstAnswers(attempts, needed, patienceMs)
    if (answers.some(Boolean)) throw new Error('the leader moved')
  }

  #inOrder(followers: readonly number[]): readonly number[] {
    if (this.#silent.size === 0) return followers
    const nowMs = performance.now()
    const isSilent = (broker: number): boolean => (this.#silent.get(broker) ?? 0) > nowMs
    return [
      ...followers.filter((each) => !isSilent(each)),
      ...followers.filter((each) => isSilent(each)),
    ]
  }

  async #knowsLaterLeader(broker: number, state: PartitionState): Promise<boolean> {
    const late = setTimeout(() => this.#noteSilent(broker), patienceMs)
    try {
      const { errorCode: code } = await this.#ask(broker, state)
      this.#silent.delete(broker)
      if (code === errorCode.fencedLeaderEpoch || code === errorCode.none) return true
      // As far as it knows we asked the wrong one, or one that it will hear of only now.
      if (code === errorCode.notLeader || code === errorCode.unknownLeaderEpoch) return false
      throw new Error(`broker ${broker} does not know the leader`)
    } catch (error) {
      this.#noteSilent(broker)
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  #noteSilent(broker: number): void {
    this.#silent.set(broker, performance.now() + silentMs)
  }
}

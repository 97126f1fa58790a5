import { firstAnswers } from './first-answers.ts'
import { errorCode } from './wire/error-codes.ts'
import type { OffsetResult, PartitionState } from './wire/requests.ts'

/** Asks a broker for the end of the partition, with the leader epoch that we know. */
export type AskBroker = (broker: number, state: PartitionState) => Promise<OffsetResult>

/** Without an answer for this long, the next follower is asked as well. */
const patienceMs = 100
/** A silent follower is asked last for this long. */
const silentMs = 5_000

/**
 * Confirms that a leader is current. A leader that was suspended or disconnected does not know that it was replaced, and reports an
 * old end of the log. So followers are asked whether they know a later leader. A new leader needs most of the replicas to
 * acknowledge records, and those learn of it before they accept a record from it. At least one of them is among any half of the
 * followers, if `min.insync.replicas` is more than half of the replicas.
 */
export class LeaderWitnesses {
  readonly #ask: AskBroker
  /** Time until which a broker counts as silent, by broker id. */
  readonly #silent = new Map<number, number>()

  constructor(ask: AskBroker) {
    this.#ask = ask
  }

  /** Rejects if a follower knows a later leader, or too few followers answer. */
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
      // The follower knows no later leader, or has not yet heard of this one.
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

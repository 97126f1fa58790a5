import { KafkaCluster } from '../src/event-log/kafka/kafka-cluster.ts'
import { startPosition } from '../src/event-log/kafka/group-positions.ts'
import type { GroupPosition } from '../src/event-log/event-log.ts'
import type { KafkajsBroker } from '../src/event-log/kafka/kafkajs-internals.ts'

/** A commit that the coordinator refuses because another broker takes over from it. */
export type Takeover = {
  /** Whether the refused commit was stored, and is on the broker that takes over. */
  readonly isStored: boolean
  /**
   * Number of commits that the first answer of the new coordinator lacks. Each further answer lacks one commit less.
   */
  readonly lateBy: number
}

type CommitRequest = Parameters<KafkajsBroker['offsetCommit']>[0]
type FetchRequest = Parameters<KafkajsBroker['offsetFetch']>[0]

/**
 * A real coordinator that refuses commits as a broker does from which another one takes over, and answers reads with older positions
 * afterwards, as a new coordinator does.
 */
export class LateCoordinator extends KafkaCluster {
  acknowledged = startPosition
  /** Positions that were refused since then. */
  refused: GroupPosition[] = []
  /** The takeovers at the next commits, in order. A commit is stored and acknowledged if its entry is undefined. */
  takeovers: (Takeover | undefined)[] = []
  /** Called before each commit. */
  onCommit: (position: GroupPosition) => void = () => undefined
  readonly #stored: GroupPosition[] = []
  #lateBy = 0

  override async coordinatorOf(groupId: string): Promise<KafkajsBroker> {
    const real = await super.coordinatorOf(groupId)
    const own: Pick<KafkajsBroker, 'offsetCommit' | 'offsetFetch'> = {
      offsetCommit: (request) => this.#commit(real, request),
      offsetFetch: (request) => this.#fetch(real, request),
    }
    return Object.assign(Object.create(real) as KafkajsBroker, own)
  }

  async #commit(real: KafkajsBroker, request: CommitRequest): Promise<void> {
    const { offset, metadata } = request.topics[0]!.partitions[0]!
    const position = { offset: Number(offset), note: metadata ?? '' }
    this.onCommit(position)
    const takeover = this.takeovers.shift()
    if (takeover?.isStored !== false) {
      await real.offsetCommit(request)
      this.#stored.push(position)
    }
    if (takeover === undefined) {
      this.acknowledged = position
      this.refused = []
      return
    }
    this.refused.push(position)
    this.#lateBy = takeover.lateBy
    throw Object.assign(new Error('another broker has taken over'), {
      type: 'NOT_COORDINATOR_FOR_GROUP',
    })
  }

  async #fetch(real: KafkajsBroker, request: FetchRequest) {
    const fresh = await real.offsetFetch(request)
    if (this.#lateBy === 0) return fresh
    const { offset, note } = this.#stored.at(-1 - this.#lateBy) ?? { offset: -1, note: '' }
    this.#lateBy -= 1
    const late = { offset: String(offset), metadata: note }
    const responses = fresh.responses.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((each) => ({ ...each, ...late })),
    }))
    return { responses }
  }
}

import { KafkaCluster } from '../src/event-log/kafka/kafka-cluster.ts'
import type { GroupPosition } from '../src/event-log/event-log.ts'
import type { KafkajsBroker } from '../src/event-log/kafka/kafkajs-internals.ts'

/** What the coordinator does at the next commit before another broker takes over from it. */
export type Takeover = {
  /** Whether the refused commit was stored, and is on the broker that takes over. */
  readonly isStored: boolean
  /** The number of reads that the new coordinator answers with an older position, and how many commits older it is. */
  readonly lateReads: number
  readonly lateBy: number
}

type CommitRequest = Parameters<KafkajsBroker['offsetCommit']>[0]

/**
 * A real coordinator that refuses commits as a broker does from which another one takes over, and answers reads with an older position
 * afterwards, as a new coordinator does.
 */
export class LateCoordinator extends KafkaCluster {
  /** The stored positions, the newest last. */
  readonly stored: GroupPosition[] = []
  takeover: Takeover | undefined
  /** Called before a commit is stored. */
  onCommit: (position: GroupPosition) => void = () => undefined
  #lateReads = 0
  #lateBy = 0

  override async coordinatorOf(groupId: string): Promise<KafkajsBroker> {
    const real = await super.coordinatorOf(groupId)
    const own: Pick<KafkajsBroker, 'offsetCommit' | 'offsetFetch'> = {
      offsetCommit: (request) => this.#commit(real, request),
      offsetFetch: (request) => this.#fetch(real, request),
    }
    return Object.assign(Object.create(real) as KafkajsBroker, own)
  }

  async #commit(real: KafkajsBroker, request: CommitRequest): Promise<unknown> {
    const { takeover } = this
    this.takeover = undefined
    if (takeover?.isStored !== false) await this.#store(real, request)
    if (takeover === undefined) return
    this.#lateReads = takeover.lateReads
    this.#lateBy = takeover.lateBy
    throw Object.assign(new Error('another broker has taken over'), {
      type: 'NOT_COORDINATOR_FOR_GROUP',
    })
  }

  async #store(real: KafkajsBroker, request: CommitRequest): Promise<void> {
    const { offset, metadata } = request.topics[0]!.partitions[0]!
    const position = { offset: Number(offset), note: metadata ?? '' }
    this.onCommit(position)
    await real.offsetCommit(request)
    this.stored.push(position)
  }

  async #fetch(real: KafkajsBroker, request: Parameters<KafkajsBroker['offsetFetch']>[0]) {
    const fresh = await real.offsetFetch(request)
    if (this.#lateReads === 0) return fresh
    this.#lateReads -= 1
    const { offset, note } = this.stored.at(-1 - this.#lateBy) ?? { offset: -1, note: '' }
    const late = { offset: String(offset), metadata: note }
    const responses = fresh.responses.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((each) => ({ ...each, ...late })),
    }))
    return { responses }
  }
}

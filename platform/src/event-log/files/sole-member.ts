import type { GroupMember, GroupMembership } from '../event-log.ts'

export type TopicPartition = {
  readonly topic: string
  readonly partition: number
}

/**
 * A group member that owns every partition from the start, because a log on one machine has one process per group. A second process
 * would own them too, and be fenced at its first commit.
 */
export class SoleMember implements GroupMembership {
  readonly #member: GroupMember
  readonly #partitions: readonly TopicPartition[]
  #state: 'joining' | 'joined' | 'left' = 'joining'

  constructor(member: GroupMember, partitions: readonly TopicPartition[]) {
    this.#member = member
    this.#partitions = partitions
    setImmediate(() => this.#assign())
  }

  get isJoined(): boolean {
    return this.#state === 'joined'
  }

  async leave(): Promise<void> {
    const wasJoined = this.isJoined
    this.#state = 'left'
    if (!wasJoined) return
    await Promise.all(
      this.#partitions.map(({ topic, partition }) => this.#member.revoked(topic, partition)),
    )
  }

  #assign(): void {
    if (this.#state === 'left') return
    this.#state = 'joined'
    for (const { topic, partition } of this.#partitions) this.#member.assigned(topic, partition)
  }
}

import type { GroupMember } from '../event-log.ts'
import { keyOf } from './group-positions.ts'
import type { TopicPartition } from './wire/requests.ts'

/**
 * Calls a member's callbacks for assigned and revoked partitions, one after the other for each partition: a partition that is
 * assigned again starts only after its last stop has completed.
 */
export class PartitionHandover {
  readonly #member: GroupMember
  readonly #onFailure: (error: unknown, at: TopicPartition) => void
  readonly #last = new Map<string, Promise<void>>()
  readonly #assigned = new Set<string>()

  constructor(member: GroupMember, onFailure: (error: unknown, at: TopicPartition) => void) {
    this.#member = member
    this.#onFailure = onFailure
  }

  assign(at: TopicPartition): void {
    this.#assigned.add(keyOf(at))
    void this.#then(at, () => this.#member.assigned(at.topic, at.partition))
  }

  /** Revokes the partition and resolves when the member has stopped. Repeated calls have no further effect. */
  revoke(at: TopicPartition): Promise<void> {
    if (!this.#assigned.delete(keyOf(at))) return this.#last.get(keyOf(at)) ?? Promise.resolve()
    return this.#then(at, () => this.#member.revoked(at.topic, at.partition))
  }

  #then(at: TopicPartition, step: () => void | Promise<void>): Promise<void> {
    const { topic, partition } = at
    const before = this.#last.get(keyOf(at)) ?? Promise.resolve()
    const done = before.then(step).catch((error: unknown) => {
      this.#onFailure(error, { topic, partition })
    })
    this.#last.set(keyOf(at), done)
    return done
  }
}

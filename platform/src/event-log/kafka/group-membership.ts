import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../observability/logger.ts'
import {
  EventLogUnavailableError,
  GroupFencedError,
  isSamePosition,
  type GroupMember,
  type GroupMembership,
  type GroupPosition,
} from '../event-log.ts'
import { retryUntilAnswered } from './request-from-leader.ts'
import { fetchPositions, keyOf, startPosition } from './group-positions.ts'
import { joinGeneration, syncAssignment, type GroupTimeouts } from './join-group.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { kafkaErrorType, type KafkajsBroker } from './kafkajs-internals.ts'
import { PartitionHandover } from './partition-handover.ts'
import type { TopicPartition } from './wire/requests.ts'

export type MembershipParts = {
  /** Used by this membership only, so that other traffic does not wait for a rebalance. */
  readonly cluster: KafkaCluster
  readonly group: string
  /** Number of partitions by topic. */
  readonly topics: Readonly<Record<string, number>>
  readonly member: GroupMember
  readonly timeouts: GroupTimeouts
  readonly answerWithinMs: number
  readonly logger: Logger
  readonly onLeft: () => void
}

/** A partition that this member owns in the current generation. */
type Owned = TopicPartition & {
  /** Position as last read after joining, or committed by this member. No other member can have moved it since. */
  position: GroupPosition
  /** Positions of commits since then that were refused. The coordinator may have stored each of them. */
  refused: readonly GroupPosition[]
  /** Commits run one after the other, so that each compares with the result of the previous one. */
  lastCommit: Promise<unknown>
}

const heartbeatsPerSession = 5
const retryMs = 200
/** How long leaving waits for a rebalance. The other members wait for a member that disappears without leaving. */
const leaveWithinMs = 3_000

/**
 * Membership in a consumer group while the process runs. Processing continues during a rebalance. Afterwards, partitions that moved
 * to another member are stopped; the others are not touched.
 *
 * Commits carry the member id and the generation, and the coordinator refuses commits of an older generation. So only the owner of
 * a partition moves its position, and comparing with the value known here is safe. A commit whose response was lost may still
 * arrive later and overwrite a newer one. So after such a commit the member leaves and joins with a new id, and the late commit is
 * refused.
 *
 * A broker that has just become the coordinator answers with positions as of the newest record that it knows to be on all replicas.
 * That can be older than what the previous coordinator acknowledged. A commit that follows an older position would undo the
 * acknowledged one: a sink would forget its open batch and store its rows a second time. So positions are read in two cases only.
 * After joining: the coordinator has stored the new generation behind all earlier positions, and knows that all replicas have it. And
 * after a refused commit, which may be stored: the position is the last known one or that of a refused commit, otherwise the
 * coordinator is asked again. What it answers is committed once more before anyone acts on it, because another refused commit
 * could still appear.
 */
export class KafkaGroupMembership implements GroupMembership {
  readonly #parts: MembershipParts
  readonly #handover: PartitionHandover
  readonly #owned = new Map<string, Owned>()
  readonly #running: Promise<void>
  #memberId = ''
  #generationId = -1
  #abandonedMemberId: string | undefined
  /** Resolved while this member has joined and the group is not rebalancing. */
  #joined = newSignal()
  #isJoined = false
  #hasTrouble = false
  #isStopping = false
  #hasLeft = false
  #wake = new AbortController()

  constructor(parts: MembershipParts) {
    this.#parts = parts
    this.#handover = new PartitionHandover(parts.member, (error, at) => {
      parts.logger.error(
        { err: error, group: parts.group, ...at },
        'a partition could not be assigned or revoked',
      )
    })
    this.#running = this.#run()
  }

  get isJoined(): boolean {
    return this.#isJoined
  }

  commit(at: TopicPartition, expected: GroupPosition, next: GroupPosition): Promise<void> {
    const owned = this.#owned.get(keyOf(at))
    if (owned === undefined) return Promise.reject(this.#fenced(at))
    return inTurn(owned, async () => {
      await this.#settleRefused(owned)
      if (!isSamePosition(owned.position, expected)) throw this.#fenced(owned)
      await this.#commit(owned, next)
    })
  }

  /** Returns the position of a partition that this member owns, otherwise undefined. */
  position(at: TopicPartition): Promise<GroupPosition> | undefined {
    const owned = this.#owned.get(keyOf(at))
    if (owned === undefined) return undefined
    return inTurn(owned, async () => {
      await this.#settleRefused(owned)
      return owned.position
    })
  }

  async leave(): Promise<void> {
    this.#isStopping = true
    // The member leaves only after processing has stopped, so that the last steps can commit.
    await Promise.all([...this.#owned.values()].map((owned) => this.#handover.revoke(owned)))
    await Promise.race([this.#joined.promise, sleep(leaveWithinMs, undefined, { ref: false })])
    this.#hasLeft = true
    this.#wake.abort()
    if (this.#memberId !== '') {
      await this.#leaveAs(this.#memberId).catch((error: unknown) => {
        this.#parts.logger.debug({ err: error }, 'could not tell the group that this member leaves')
      })
    }
    this.#owned.clear()
    this.#parts.cluster.close()
    await this.#running
    this.#parts.onLeft()
  }

  async #run(): Promise<void> {
    while (!this.#hasLeft) {
      try {
        if (!this.#isJoined) await this.#join()
        await this.#pause(this.#parts.timeouts.sessionTimeoutMs / heartbeatsPerSession)
        if (this.#isJoined && !this.#hasLeft) await this.#sendHeartbeat()
      } catch (error) {
        if (!this.#hasLeft) await this.#recover(error)
      }
    }
  }

  async #join(): Promise<void> {
    const { group: groupId, topics, timeouts, logger } = this.#parts
    const coordinator = await this.#coordinator()
    if (this.#abandonedMemberId !== undefined) await this.#leaveAs(this.#abandonedMemberId)
    const owned = [...this.#owned.values()].map(({ topic, partition }) => ({ topic, partition }))
    const request = { ...timeouts, groupId, topics, memberId: this.#memberId, owned }
    const generation = await joinGeneration(coordinator, request)
    const { memberId, generationId } = generation
    // If this member missed a generation, another member may have processed its partitions.
    const isNext = memberId === this.#memberId && generationId === this.#generationId + 1
    this.#memberId = memberId
    const assigned = await syncAssignment(coordinator, request, generation)
    const positions = await this.#readAfterJoining(coordinator, assigned)
    if (this.#hasLeft) return
    if (!isNext) this.#dropAll()
    this.#generationId = generationId
    this.#apply(assigned, positions)
    this.#isJoined = true
    this.#joined.resolve()
    this.#markAnswered()
    logger.info({ group: groupId, generationId, assigned: assigned.map(keyOf) }, 'joined the group')
  }

  /**
   * Reads the positions from the coordinator that has stored the generation. If it fails, another broker may be the coordinator, and
   * only a new member makes that one store a generation as well.
   */
  async #readAfterJoining(
    coordinator: KafkajsBroker,
    assigned: readonly TopicPartition[],
  ): Promise<ReadonlyMap<string, GroupPosition>> {
    if (assigned.length === 0) return new Map()
    try {
      return await fetchPositions(coordinator, this.#parts.group, assigned)
    } catch (error) {
      this.#abandon()
      throw error
    }
  }

  #apply(assigned: readonly TopicPartition[], positions: ReadonlyMap<string, GroupPosition>): void {
    const keys = new Set(assigned.map(keyOf))
    for (const [key, owned] of this.#owned) if (!keys.has(key)) this.#drop(owned)
    if (this.#isStopping) return
    for (const at of assigned) {
      if (this.#owned.has(keyOf(at))) continue
      const position = positions.get(keyOf(at)) ?? startPosition
      const lastCommit = Promise.resolve()
      this.#owned.set(keyOf(at), { ...at, position, refused: [], lastCommit })
      this.#handover.assign(at)
    }
  }

  #drop(owned: Owned): void {
    this.#owned.delete(keyOf(owned))
    void this.#handover.revoke(owned)
  }

  #dropAll(): void {
    for (const owned of this.#owned.values()) this.#drop(owned)
  }

  async #sendHeartbeat(): Promise<void> {
    const coordinator = await this.#coordinator()
    await coordinator.heartbeat(this.#identity())
    this.#markAnswered()
  }

  async #leaveAs(memberId: string): Promise<void> {
    const coordinator = await this.#coordinator()
    await coordinator
      .leaveGroup({ groupId: this.#parts.group, memberId })
      .catch((error: unknown) => {
        if (kafkaErrorType(error) !== 'UNKNOWN_MEMBER_ID') throw error
      })
    this.#abandonedMemberId = undefined
  }

  async #recover(error: unknown): Promise<void> {
    switch (kafkaErrorType(error)) {
      case 'REBALANCE_IN_PROGRESS':
        return this.#joinAgain()
      case 'ILLEGAL_GENERATION':
        this.#dropAll()
        return this.#joinAgain()
      case 'UNKNOWN_MEMBER_ID':
        return this.#joinAsAnother()
      default:
        this.#markTrouble(error)
        this.#parts.cluster.forgetCoordinator(this.#parts.group)
        return this.#pause(retryMs)
    }
  }

  /** Logs once when it begins, because a coordinator may be unavailable for long. */
  #markTrouble(error: unknown): void {
    if (!this.#hasTrouble) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#parts.logger.warn(
        { reason, group: this.#parts.group },
        'the group coordinator does not answer; retrying',
      )
    }
    this.#hasTrouble = true
  }

  #markAnswered(): void {
    if (this.#hasTrouble)
      this.#parts.logger.info({ group: this.#parts.group }, 'the group coordinator answers again')
    this.#hasTrouble = false
  }

  #joinAgain(): void {
    if (!this.#isJoined) return
    this.#isJoined = false
    this.#joined = newSignal()
    this.#wake.abort()
  }

  /** Leaves as this member, and joins as a new one. */
  #abandon(): void {
    this.#abandonedMemberId = this.#memberId
    this.#joinAsAnother()
  }

  #joinAsAnother(): void {
    this.#dropAll()
    this.#memberId = ''
    this.#joinAgain()
  }

  async #pause(ms: number): Promise<void> {
    if (this.#wake.signal.aborted && !this.#hasLeft) this.#wake = new AbortController()
    await sleep(ms, undefined, { signal: this.#wake.signal }).catch(() => undefined)
  }

  async #commit(owned: Owned, next: GroupPosition): Promise<void> {
    const coordinator = await this.#retry(() => this.#coordinator())
    if (!this.#isCurrent(owned)) throw this.#fenced(owned)
    const partitions = [
      { partition: owned.partition, offset: String(next.offset), metadata: next.note },
    ]
    const topics = [{ topic: owned.topic, partitions }]
    try {
      await coordinator.offsetCommit({ ...this.#identity(), topics })
      owned.position = next
      owned.refused = []
    } catch (error) {
      owned.refused = [...owned.refused, next]
      throw this.#commitFailure(owned, error)
    }
  }

  /** Finds out which position is stored after refused commits, and commits it again. */
  async #settleRefused(owned: Owned): Promise<void> {
    if (owned.refused.length === 0) return
    const possible = [owned.position, ...owned.refused]
    const stored = await this.#retry(async () => {
      if (!this.#isCurrent(owned)) return owned.position
      const coordinator = await this.#coordinator()
      const positions = await fetchPositions(coordinator, this.#parts.group, [owned])
      const read = positions.get(keyOf(owned)) ?? startPosition
      if (possible.some((each) => isSamePosition(each, read))) return read
      throw new Error('the coordinator does not know the last position')
    })
    await this.#commit(owned, stored)
  }

  /** Retries until an attempt succeeds while this member has joined. */
  #retry<Result>(attempt: () => Promise<Result>): Promise<Result> {
    return retryUntilAnswered(this.#parts.answerWithinMs, async () => {
      await this.#joined.promise
      return attempt()
    })
  }

  #commitFailure(owned: Owned, error: unknown): Error {
    switch (kafkaErrorType(error)) {
      case 'REBALANCE_IN_PROGRESS':
      case 'ILLEGAL_GENERATION':
      case 'UNKNOWN_MEMBER_ID':
        return this.#fenced(owned)
      case 'OFFSET_METADATA_TOO_LARGE':
        return new RangeError('The note is longer than the brokers keep.', { cause: error })
      case 'NOT_COORDINATOR_FOR_GROUP':
      case 'GROUP_COORDINATOR_NOT_AVAILABLE':
      case 'GROUP_LOAD_IN_PROGRESS':
        this.#parts.cluster.forgetCoordinator(this.#parts.group)
        break
      default:
        this.#abandon()
    }
    return new EventLogUnavailableError('Kafka did not commit the position.', { cause: error })
  }

  #isCurrent(owned: Owned): boolean {
    return this.#owned.get(keyOf(owned)) === owned
  }

  #coordinator(): Promise<KafkajsBroker> {
    return this.#parts.cluster.coordinatorOf(this.#parts.group)
  }

  #identity() {
    const groupId = this.#parts.group
    return { groupId, memberId: this.#memberId, groupGenerationId: this.#generationId }
  }

  #fenced({ topic, partition }: TopicPartition): GroupFencedError {
    return new GroupFencedError(
      `Group ${this.#parts.group} has given ${topic} partition ${partition} to another member.`,
    )
  }
}

/** Runs behind the earlier commits of the partition. */
function inTurn<Result>(owned: Owned, act: () => Promise<Result>): Promise<Result> {
  const turn = owned.lastCommit.then(act)
  owned.lastCommit = turn.catch(() => undefined)
  return turn
}

type Signal = { readonly promise: Promise<void>; readonly resolve: () => void }

function newSignal(): Signal {
  let resolve = (): void => undefined
  const promise = new Promise<void>((resolveNow) => (resolve = resolveNow))
  return { promise, resolve }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { WakeUps } from '../../waiting/wake-ups.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import type { RecordCache } from './record-cache.ts'
import { errorCode, isPassing } from './wire/error-codes.ts'
import { decodeRecordBatches } from './wire/record-batch.ts'
import {
  fetchRequest,
  latest,
  listOffsetsRequest,
  type FetchResult,
  type PartitionState,
} from './wire/requests.ts'

/** How long a leader holds a question for new records; a stop waits as long for the answer at most. */
const pollMs = 500
const pollLimits = { waitMs: pollMs, bytesMax: 1024 * 1024 }
const partitionBytesMax = 64 * 1024
const pauseMs = 200
/** How long the look at a head takes that goes before a wait. */
const lookMs = 50

/**
 * Tells when a topic grows, by holding a question at each leader for as long as somebody waits. What the answer brings is
 * kept for the reader that wakes up.
 */
export class AppendWatch {
  readonly #cluster: KafkaCluster
  readonly #cache: RecordCache
  readonly #wakeUps = new WakeUps(lookMs)
  /** By partition, where the next record will show. Unknown ones are looked up, and whoever waits is woken. */
  readonly #heads = new Map<number, number>()
  readonly #polled = new Set<number>()
  #isClosed = false

  /** The cluster must be this watch's own, for this topic: its connections are nearly always waiting. */
  constructor(cluster: KafkaCluster, cache: RecordCache) {
    this.#cluster = cluster
    this.#cache = cache
  }

  wait(timeoutMs: number): Promise<void> {
    const woken = this.#wakeUps.wait(timeoutMs)
    this.#pollAll()
    return woken
  }

  close(): void {
    this.#isClosed = true
    this.#cluster.close()
    this.#wakeUps.wake()
  }

  #pollAll(): void {
    if (this.#isClosed || !this.#wakeUps.hasWaiters) return
    const { states } = this.#cluster
    const leaders = new Set(states.length === 0 ? [-1] : states.map(({ leader }) => leader))
    for (const leader of leaders) {
      if (this.#polled.has(leader)) continue
      this.#polled.add(leader)
      this.#poll(leader)
        .catch(() => this.#recover())
        .finally(() => {
          this.#polled.delete(leader)
          this.#pollAll()
        })
    }
  }

  async #poll(leader: number): Promise<void> {
    const led = this.#cluster.states.filter((state) => state.leader === leader)
    if (led.length === 0) return this.#cluster.refresh()
    const unknown = led.filter(({ partition }) => !this.#heads.has(partition))
    if (unknown.length > 0) return this.#lookUp(leader, unknown)
    const wanted = led.map(({ topic, partition }) => {
      const fromOffset = this.#heads.get(partition)!
      return { topic, partition, fromOffset, bytesMax: partitionBytesMax }
    })
    const results = await this.#cluster.send(leader, fetchRequest(wanted, pollLimits))
    if (results.some(({ errorCode }) => isPassing(errorCode))) throw new Error('the leader moved')
    // Those who wait next must not sleep over what nobody was told of.
    if (!this.#wakeUps.hasWaiters) return
    if (results.filter((result) => this.#note(result)).length > 0) this.#wakeUps.wake()
  }

  async #lookUp(leader: number, partitions: readonly PartitionState[]): Promise<void> {
    const questions = partitions.map((each) => ({ ...each, timestampMs: latest }))
    for (const each of await this.#cluster.send(leader, listOffsetsRequest(questions))) {
      if (each.errorCode !== errorCode.none) throw new Error('the leader moved')
      this.#heads.set(each.partition, each.offset)
    }
    // What was appended between the waiters' last look and this one would wake nobody.
    this.#wakeUps.wake()
  }

  /** Whether there is something new to look at. */
  #note(result: FetchResult): boolean {
    if (result.errorCode !== errorCode.none) {
      this.#heads.delete(result.partition)
      return true
    }
    const head = this.#heads.get(result.partition)!
    if (result.highWatermark <= head) return false
    this.#cache.put(result.topic, result.partition, decodeRecordBatches(result.batches, head))
    this.#heads.set(result.partition, result.highWatermark)
    return true
  }

  /** The waiters have time-outs of their own. */
  async #recover(): Promise<void> {
    await sleep(pauseMs)
    if (!this.#isClosed) await this.#cluster.refresh().catch(() => undefined)
  }
}

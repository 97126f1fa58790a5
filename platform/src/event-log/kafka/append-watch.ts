import { setTimeout as sleep } from 'node:timers/promises'
import { WakeUps } from '../../waiting/wake-ups.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import type { RecordCache } from './record-cache.ts'
import { errorCode, isRetriable } from './wire/error-codes.ts'
import { decodeRecordBatches, RecordBatchFormatError } from './wire/record-batch.ts'
import {
  fetchRequest,
  latest,
  listOffsetsRequest,
  type FetchResult,
  type PartitionState,
} from './wire/requests.ts'

/** How long a leader waits for new records before it answers. Stopping may wait as long. */
const pollMs = 500
const pollLimits = { waitMs: pollMs, bytesMax: 1024 * 1024 }
const partitionBytesMax = 64 * 1024
const pauseMs = 200
/** How long it takes to read a head before a wait. */
const lookMs = 50

/**
 * Waits for new records of a topic with a long poll at each leader while a caller waits. Records in the responses are cached for
 * the reader that wakes up.
 */
export class AppendWatch {
  readonly #cluster: KafkaCluster
  readonly #cache: RecordCache
  readonly #decompressedBytesMax: number
  readonly #wakeUps = new WakeUps(lookMs)
  /** Offset of the next record, by partition. Unknown ones are looked up, and all waiters are woken. */
  readonly #heads = new Map<number, number>()
  readonly #polled = new Set<number>()
  #isClosed = false

  /** `cluster` must be used by this watch only, because its connections are almost always waiting. */
  constructor(cluster: KafkaCluster, cache: RecordCache, decompressedBytesMax: number) {
    this.#cluster = cluster
    this.#cache = cache
    this.#decompressedBytesMax = decompressedBytesMax
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
    if (results.some(({ errorCode }) => isRetriable(errorCode))) throw new Error('the leader moved')
    // Nobody would be notified of these records, so the next waiter must request them again.
    if (!this.#wakeUps.hasWaiters) return
    if (results.filter((result) => this.#note(result)).length > 0) this.#wakeUps.wake()
  }

  async #lookUp(leader: number, partitions: readonly PartitionState[]): Promise<void> {
    const questions = partitions.map((each) => ({ ...each, timestampMs: latest }))
    for (const each of await this.#cluster.send(leader, listOffsetsRequest(questions))) {
      if (each.errorCode !== errorCode.none) throw new Error('the leader moved')
      this.#heads.set(each.partition, each.offset)
    }
    // Records appended between the last check of the waiters and this lookup would wake nobody.
    this.#wakeUps.wake()
  }

  /** Returns whether the waiters must check for records. */
  #note(result: FetchResult): boolean {
    if (result.errorCode !== errorCode.none) {
      this.#heads.delete(result.partition)
      return true
    }
    const head = this.#heads.get(result.partition)!
    if (result.highWatermark <= head) return false
    this.#keep(result, head)
    this.#heads.set(result.partition, result.highWatermark)
    return true
  }

  /** Caches the records. Of a batch that cannot be decoded, the waiting reader fetches it again and gets the error. */
  #keep({ topic, partition, batches }: FetchResult, head: number): void {
    try {
      const records = decodeRecordBatches(batches, head, this.#decompressedBytesMax)
      this.#cache.put(topic, partition, records)
    } catch (error) {
      if (!(error instanceof RecordBatchFormatError)) throw error
    }
  }

  /** Pauses after an error. The waiters have their own timeouts. */
  async #recover(): Promise<void> {
    await sleep(pauseMs)
    if (!this.#isClosed) await this.#cluster.refresh().catch(() => undefined)
  }
}

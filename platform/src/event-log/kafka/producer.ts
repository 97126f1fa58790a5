import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { PartitionQueue, type Settled } from './partition-queue.ts'
import { openProducerSession } from './producer-session.ts'
import { produceRequest, type TopicPartition } from './wire/requests.ts'

export type ProducerLimits = {
  /** Maximum bytes that wait for the brokers before appends are refused. */
  readonly pendingBytesMax: number
  /** Maximum bytes of one batch; must be below the topic's max.message.bytes. */
  readonly batchBytesMax: number
  /** How long a record may wait to become durable before its append is refused, in milliseconds. */
  readonly deliveryTimeoutMs: number
}

/** Larger requests are split, so that the answer for the first record does not wait for the last one. */
const requestBytesMax = 4 * 1024 * 1024
/** How long a leader waits for the other replicas, in milliseconds. */
const replicasWithinMs = 4_000
const tickMs = 20

/**
 * Group commit over a network: records collect while a request to a leader is in flight, then all of them are sent in the next one.
 * No timer delays them.
 */
export class Producer {
  readonly #cluster: KafkaCluster
  readonly #onHead: (at: TopicPartition, head: number) => void
  readonly #limits: ProducerLimits
  readonly #queues = new Map<string, PartitionQueue>()
  /** Queues with records. */
  readonly #filled = new Set<PartitionQueue>()
  readonly #busyLeaders = new Set<number>()
  #pendingBytes = 0
  #isScheduled = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #onEmpty: (() => void) | undefined

  /** `onHead` is called with the new head of a partition for every answer, before the appends resolve. */
  constructor(
    cluster: KafkaCluster,
    onHead: (at: TopicPartition, head: number) => void,
    limits: ProducerLimits,
  ) {
    this.#cluster = cluster
    this.#onHead = onHead
    this.#limits = limits
  }

  append(topic: string, record: LogAppend, receivedAtMs: number): Promise<void> {
    const refusal = this.refusal(record.value.byteLength)
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#add(topic, record, receivedAtMs, performance.now()).durable
  }

  /**
   * Appends records to one or more partitions. Kafka has no atomic write over several partitions without transactions, so the
   * outcomes may differ: each record is retried until the delivery timeout. If the timeout passes for one record, the call is
   * refused although other records are in the log. A caller that sends them again is exact for records with an idempotency key,
   * because the second copies are duplicates. Records without a key are counted twice, as after any lost acknowledgement.
   */
  async appendAll(
    topic: string,
    records: readonly LogAppend[],
    receivedAtMs: number,
  ): Promise<number[]> {
    const refusal = this.refusal(records.reduce((sum, { value }) => sum + value.byteLength, 0))
    if (refusal !== undefined) throw refusal
    const nowMs = performance.now()
    const places = records.map((record) => {
      const batch = this.#add(topic, record, receivedAtMs, nowMs)
      return { batch, index: batch.records.count - 1 }
    })
    await Promise.all(new Set(places.map(({ batch }) => batch.durable)))
    return places.map(({ batch, index }) => batch.baseOffset + index)
  }

  /** Returns the error with which this many bytes would be refused now, as far as this process knows. */
  refusal(bytes: number): EventLogUnavailableError | undefined {
    if (this.#isClosed) return new EventLogUnavailableError('The event log is closed.')
    if (this.#pendingBytes + bytes > this.#limits.pendingBytesMax) {
      return new EventLogUnavailableError('Too many bytes wait for Kafka.')
    }
    return undefined
  }

  /** Accepts no more records, and resolves when all accepted ones are durable or refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#filled.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
    this.#cluster.close()
  }

  #add(topic: string, record: LogAppend, receivedAtMs: number, nowMs: number) {
    const queue = this.#queueOf(topic, record.partition)
    const batch = queue.add(record, receivedAtMs, nowMs)
    this.#pendingBytes += record.value.byteLength
    batch.valueBytes += record.value.byteLength
    this.#filled.add(queue)
    this.#schedule()
    return batch
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#timer ??= setInterval(() => this.#abandonLate(), tickMs)
    // At the end of this turn of the event loop, so that all requests of the turn join the same batch.
    setImmediate(() => {
      this.#isScheduled = false
      this.#sendDue()
    })
  }

  #abandonLate(): void {
    const { deliveryTimeoutMs } = this.#limits
    const startedBeforeMs = performance.now() - deliveryTimeoutMs
    const reason = `Kafka did not keep the records within ${deliveryTimeoutMs} ms.`
    this.#finish([...this.#filled].flatMap((queue) => queue.abandonBefore(startedBeforeMs, reason)))
  }

  #sendDue(): void {
    const nowMs = performance.now()
    const byLeader = new Map<number, PartitionQueue[]>()
    for (const queue of this.#filled) {
      if (!queue.isDue(nowMs)) continue
      const leader = this.#cluster.state(queue)?.leader ?? -1
      if (this.#busyLeaders.has(leader)) continue
      const sameLeader = byLeader.get(leader)
      if (sameLeader === undefined) byLeader.set(leader, [queue])
      else sameLeader.push(queue)
    }
    for (const [leader, queues] of byLeader) {
      this.#busyLeaders.add(leader)
      void this.#send(leader, queues).then((settled) => {
        this.#busyLeaders.delete(leader)
        this.#finish(settled)
      })
    }
  }

  /** Sends due batches to a leader. Never rejects: failed batches stay in their queues and are retried. */
  async #send(leader: number, due: readonly PartitionQueue[]): Promise<Settled[]> {
    let concerned = due
    try {
      await Promise.all(due.map((queue) => this.#openSession(queue)))
      const sent = beginSend(due)
      concerned = sent.map(({ queue }) => queue)
      if (sent.length === 0) return []
      const results = await this.#cluster.send(leader, produceRequest(sent, replicasWithinMs))
      const nowMs = performance.now()
      const settled = results.map((result) => {
        const known = this.#queueOf(result.topic, result.partition).settle(result, nowMs)
        if (known !== undefined) this.#recordHead(result, known)
        return known
      })
      if (settled.includes(undefined)) await this.#refresh()
      return settled.filter((each) => each !== undefined)
    } catch {
      for (const queue of concerned) queue.backOff(performance.now())
      await this.#refresh()
      return []
    }
  }

  #recordHead(at: TopicPartition, { batch }: Settled): void {
    if (batch.baseOffset >= 0) this.#onHead(at, batch.baseOffset + batch.records.count)
  }

  async #openSession(queue: PartitionQueue): Promise<void> {
    if (queue.needsSession) queue.useSession(await openProducerSession(this.#cluster))
  }

  /** Updates the leaders, since one may have moved. */
  async #refresh(): Promise<void> {
    await this.#cluster.refresh().catch(() => undefined)
  }

  /** Reports outcomes. The next requests start first, so that no broker is idle while responses are written. */
  #finish(settled: readonly Settled[]): void {
    for (const { batch } of settled) this.#pendingBytes -= batch.valueBytes
    for (const queue of this.#filled) if (queue.isEmpty) this.#filled.delete(queue)
    this.#sendDue()
    for (const { report } of settled) report()
    if (this.#filled.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#onEmpty?.()
  }

  #queueOf(topic: string, partition: number): PartitionQueue {
    const key = `${topic}/${partition}`
    let queue = this.#queues.get(key)
    if (queue === undefined) {
      queue = new PartitionQueue(topic, partition, this.#limits.batchBytesMax)
      this.#queues.set(key, queue)
    }
    return queue
  }
}

function beginSend(due: readonly PartitionQueue[]) {
  const sent = []
  let bytes = 0
  for (const queue of due) {
    if (bytes > requestBytesMax) break
    // The batch was abandoned while a session was opened.
    if (queue.isEmpty) continue
    const batch = queue.beginSend()
    bytes += batch.byteLength
    sent.push({ queue, topic: queue.topic, partition: queue.partition, batch })
  }
  return sent
}

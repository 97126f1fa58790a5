import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { PartitionQueue, type Sending, type Settled } from './partition-queue.ts'
import { openProducerSession } from './producer-session.ts'
import type { Compression } from './wire/compress.ts'
import { produceRequest, type TopicPartition } from './wire/requests.ts'

export type ProducerLimits = {
  /** Maximum bytes that wait for the brokers before appends are refused. */
  readonly pendingBytesMax: number
  /** Maximum bytes of one batch; must be below the topic's max.message.bytes. */
  readonly batchBytesMax: number
  /** How long a record may wait to become durable before its append is refused, in milliseconds. */
  readonly deliveryTimeoutMs: number
  /** Maximum requests in flight to one leader: one or two. */
  readonly requestsInFlightMax: number
  /** Compresses batches. Without it, they stay plain. */
  readonly compression?: Compression | undefined
}

/** A batch in flight, with its queue. */
type Sent = Sending & { readonly queue: PartitionQueue }

/** Larger requests are split, so that the answer for the first record does not wait for the last one. */
const requestBytesMax = 4 * 1024 * 1024
/** How long a leader waits for the other replicas, in milliseconds. */
const replicasWithinMs = 4_000
const tickMs = 20
/** A second request is sent behind one in flight as soon as its values have this many bytes, about 500 records of usage. */
const secondRequestBytesMin = 128 * 1024
/** A smaller second request waits at most this long for the first one's answer, in milliseconds. */
const secondRequestWaitMs = 20

/**
 * Group commit over a network: records collect while a request to a leader is in flight, then all of them are sent in the next one.
 * Many records are sent in a second request behind it. Nothing waits while no request is in flight.
 */
export class Producer {
  readonly #cluster: KafkaCluster
  readonly #onHead: (at: TopicPartition, head: number) => void
  readonly #limits: ProducerLimits
  readonly #queues = new Map<string, PartitionQueue>()
  /** Queues with records. */
  readonly #filled = new Set<PartitionQueue>()
  /** Queues whose producer session is being opened. */
  readonly #opening = new Set<PartitionQueue>()
  /** Number of requests in flight, by leader. */
  readonly #requestsInFlight = new Map<number, number>()
  #pendingBytes = 0
  #isScheduled = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  /** Set while records wait behind a request in flight. */
  #waiting: NodeJS.Timeout | undefined
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
  appendAll(topic: string, records: readonly LogAppend[], receivedAtMs: number): Promise<number[]> {
    const refusal = this.refusal(records.reduce((sum, { value }) => sum + value.byteLength, 0))
    if (refusal !== undefined) return Promise.reject(refusal)
    const nowMs = performance.now()
    const indexes: number[] = []
    const batches = records.map((record) => {
      const batch = this.#add(topic, record, receivedAtMs, nowMs)
      indexes.push(batch.records.count - 1)
      return batch
    })
    const durable = [...new Set(batches)].map((batch) => batch.durable)
    return Promise.all(durable).then(() =>
      batches.map(({ baseOffset }, at) => baseOffset + indexes[at]!),
    )
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
      if (queue.needsSession(nowMs)) this.#openSession(queue)
      const leader = this.#cluster.state(queue)?.leader ?? -1
      if (this.#countInFlight(leader) >= this.#limits.requestsInFlightMax) continue
      if (!queue.isDue(nowMs, leader)) continue
      const sameLeader = byLeader.get(leader)
      if (sameLeader === undefined) byLeader.set(leader, [queue])
      else sameLeader.push(queue)
    }
    for (const [leader, queues] of byLeader) {
      if (!this.#isWorthSending(leader, queues, nowMs)) continue
      const sent = this.#beginSend(queues, nowMs, leader)
      this.#requestsInFlight.set(leader, this.#countInFlight(leader) + 1)
      void this.#send(leader, sent).then((settled) => {
        this.#requestsInFlight.set(leader, this.#countInFlight(leader) - 1)
        this.#finish(settled)
      })
    }
  }

  #countInFlight(leader: number): number {
    return this.#requestsInFlight.get(leader) ?? 0
  }

  /**
   * A request is sent at once if none is in flight to that leader. Behind another request it waits until it has enough bytes, for
   * at most `secondRequestWaitMs`, because each request costs the client and the broker more than 100 records do.
   */
  #isWorthSending(leader: number, queues: readonly PartitionQueue[], nowMs: number): boolean {
    if (this.#countInFlight(leader) === 0) return true
    const waiting = queues.map((queue) => queue.waiting(nowMs, leader))
    const bytes = waiting.reduce((sum, { valueBytes }) => sum + valueBytes, 0)
    if (bytes >= secondRequestBytesMin) return true
    const waitedMs = nowMs - Math.min(...waiting.map(({ startedMs }) => startedMs))
    if (waitedMs >= secondRequestWaitMs) return true
    this.#waiting ??= setTimeout(() => {
      this.#waiting = undefined
      this.#sendDue()
    }, secondRequestWaitMs)
    return false
  }

  #beginSend(due: readonly PartitionQueue[], nowMs: number, leader: number): Sent[] {
    const sent: Sent[] = []
    let bytes = 0
    for (const queue of due) {
      if (bytes > requestBytesMax) break
      const sending = queue.beginSend(nowMs, leader, this.#limits.compression)
      bytes += sending.bytes.byteLength
      sent.push({ queue, ...sending })
    }
    return sent
  }

  /** Sends batches to a leader. Never rejects: failed batches stay in their queues and are retried. */
  async #send(leader: number, sent: readonly Sent[]): Promise<Settled[]> {
    const batches = sent.map(({ queue: { topic, partition }, bytes: batch }) => {
      return { topic, partition, batch }
    })
    try {
      const results = await this.#cluster.send(leader, produceRequest(batches, replicasWithinMs))
      const nowMs = performance.now()
      const settled = sent.map(({ queue, batch }) => {
        const result = results.find((each) => isOf(queue, each))
        if (result === undefined) return queue.fail(batch, nowMs)
        const known = queue.settle(batch, result, nowMs)
        if (known !== undefined) this.#recordHead(result, known)
        return known
      })
      if (settled.includes(undefined)) await this.#refresh()
      return settled.filter((each) => each !== undefined)
    } catch {
      for (const { queue, batch } of sent) queue.fail(batch, performance.now())
      await this.#refresh()
      return []
    }
  }

  #recordHead(at: TopicPartition, { batch }: Settled): void {
    if (batch.baseOffset >= 0) this.#onHead(at, batch.baseOffset + batch.records.count)
  }

  #openSession(queue: PartitionQueue): void {
    if (this.#opening.has(queue)) return
    this.#opening.add(queue)
    void this.#trySession(queue).then((settled) => {
      this.#opening.delete(queue)
      this.#finish(settled)
    })
  }

  async #trySession(queue: PartitionQueue): Promise<Settled[]> {
    try {
      return queue.useSession(await openProducerSession(this.#cluster))
    } catch {
      queue.failSession(performance.now())
      await this.#refresh()
      return []
    }
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
    clearTimeout(this.#waiting)
    this.#timer = this.#waiting = undefined
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

function isOf(queue: PartitionQueue, { topic, partition }: TopicPartition): boolean {
  return queue.partition === partition && queue.topic === topic
}

import { describe, expect, it } from 'vitest'
import { EventLogUnavailableError } from '../event-log.ts'
import { PartitionQueue } from './partition-queue.ts'
import { errorCode } from './wire/error-codes.ts'

const at = { topic: 'orders', partition: 0 }
const firstSession = { producerId: '7', producerEpoch: 0 }
const secondSession = { producerId: '8', producerEpoch: 0 }

function createQueue(batchBytesMax = 10_000): PartitionQueue {
  const queue = new PartitionQueue(at.topic, at.partition, batchBytesMax)
  queue.useSession(firstSession)
  return queue
}

function add(queue: PartitionQueue, count: number, nowMs = 0) {
  const batches = Array.from({ length: count }, () =>
    queue.add({ value: Buffer.from('v') }, 1, nowMs),
  )
  return batches.at(-1)!
}

/** Returns the producer id and sequence number of a batch. */
function sentAs(batch: Buffer) {
  return {
    producerId: String(batch.readBigInt64BE(43)),
    firstSequence: batch.readInt32BE(53),
    count: batch.readInt32BE(57),
  }
}

const answer = (code: number, baseOffset = 0) => ({ ...at, errorCode: code, baseOffset })

describe('the queue of a partition', () => {
  it('sends everything that arrived in the meantime, with consecutive numbers', async () => {
    const queue = createQueue()
    const first = add(queue, 2)
    expect(sentAs(queue.beginSend())).toEqual({ producerId: '7', firstSequence: 0, count: 2 })
    const second = add(queue, 3)
    expect(queue.isDue(0)).toBe(false)
    const settled = queue.settle(answer(errorCode.none, 40), 0)
    expect(settled?.batch).toBe(first)
    settled?.report()
    await first.durable
    expect(first.baseOffset).toBe(40)
    expect(second).not.toBe(first)
    expect(sentAs(queue.beginSend())).toEqual({ producerId: '7', firstSequence: 2, count: 3 })
  })

  it('sends a batch again unchanged, whatever arrived after it', () => {
    const queue = createQueue()
    add(queue, 2)
    const before = Buffer.from(queue.beginSend())
    add(queue, 5)
    queue.backOff(0)
    expect(queue.isDue(0)).toBe(false)
    expect(queue.isDue(1_000)).toBe(true)
    expect(queue.beginSend()).toEqual(before)
    expect(queue.settle(answer(errorCode.notLeader), 1_000)).toBeUndefined()
    expect(queue.beginSend()).toEqual(before)
  })

  it('waits longer after each failure, at most half a second', () => {
    const queue = createQueue()
    add(queue, 1)
    const waits = Array.from({ length: 8 }, () => {
      queue.beginSend()
      queue.backOff(0)
      return Array.from({ length: 600 }, (_, ms) => ms).find((ms) => queue.isDue(ms))
    })
    expect(waits).toEqual([20, 40, 80, 160, 320, 500, 500, 500])
  })

  it('never reuses the number of an abandoned batch for other records', async () => {
    const queue = createQueue()
    const lost = add(queue, 2, 0)
    queue.beginSend()
    const later = add(queue, 2, 900)
    const [settled, ...more] = queue.abandonBefore(500, 'too late')
    expect([settled?.batch, more]).toEqual([lost, []])
    settled?.report()
    await expect(lost.durable).rejects.toThrow(EventLogUnavailableError)
    // Its answer arrives late.
    expect(queue.settle(answer(errorCode.none, 10), 900)).toBeUndefined()
    expect(queue.needsSession).toBe(true)
    queue.useSession(secondSession)
    expect(sentAs(queue.beginSend())).toEqual({ producerId: '8', firstSequence: 0, count: 2 })
    expect(queue.settle(answer(errorCode.none, 12), 900)?.batch).toBe(later)
  })

  it('keeps its session when it abandons records that were never sent', async () => {
    const queue = createQueue()
    const lost = add(queue, 2, 0)
    for (const { report } of queue.abandonBefore(500, 'too late')) report()
    await expect(lost.durable).rejects.toThrow('too late')
    expect([queue.isEmpty, queue.needsSession]).toEqual([true, false])
  })

  it('sends a batch with a new session when the broker has forgotten the old one', () => {
    const queue = createQueue()
    add(queue, 4)
    queue.beginSend()
    expect(queue.settle(answer(errorCode.outOfOrderSequence), 0)).toBeUndefined()
    expect(queue.needsSession).toBe(true)
    queue.useSession(secondSession)
    expect(sentAs(queue.beginSend())).toEqual({ producerId: '8', firstSequence: 0, count: 4 })
  })

  it('refuses records that the broker will never accept, and continues with their number', async () => {
    const queue = createQueue()
    const refused = add(queue, 1)
    queue.beginSend()
    const messageTooLarge = 10
    queue.settle(answer(messageTooLarge), 0)?.report()
    await expect(refused.durable).rejects.toThrow(EventLogUnavailableError)
    add(queue, 1)
    expect(sentAs(queue.beginSend())).toEqual({ producerId: '7', firstSequence: 0, count: 1 })
  })

  it('closes a batch that would become too large', () => {
    const queue = createQueue(100)
    const batches = [1, 2, 3].map(() => queue.add({ value: Buffer.alloc(60) }, 1, 0))
    expect(new Set(batches).size).toBe(3)
    expect(sentAs(queue.beginSend()).count).toBe(1)
  })
})

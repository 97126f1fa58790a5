import { describe, expect, it } from 'vitest'
import { EventLogUnavailableError } from '../event-log.ts'
import { PartitionQueue, type Sending } from './partition-queue.ts'
import { errorCode } from './wire/error-codes.ts'

const at = { topic: 'orders', partition: 0 }
const leader = 1
const firstSession = { producerId: '7', producerEpoch: 0 }
const secondSession = { producerId: '8', producerEpoch: 0 }

function createQueue(batchBytesMax = 10_000): PartitionQueue {
  const queue = new PartitionQueue(at.topic, at.partition, batchBytesMax)
  queue.useSession(firstSession)
  return queue
}

/** Returns a queue whose session the broker knows, so that two batches may be in flight. */
function createKnownQueue(): PartitionQueue {
  const queue = createQueue()
  add(queue, 1)
  queue.settle(queue.beginSend(0, leader).batch, answer(errorCode.none), 0)
  return queue
}

function add(queue: PartitionQueue, count: number, nowMs = 0) {
  const batches = Array.from({ length: count }, () =>
    queue.add({ value: Buffer.from('v') }, 1, nowMs),
  )
  return batches.at(-1)!
}

/** Returns the producer id and sequence number of a batch. */
function sentAs({ bytes }: Sending) {
  return {
    producerId: String(bytes.readBigInt64BE(43)),
    firstSequence: bytes.readInt32BE(53),
    count: bytes.readInt32BE(57),
  }
}

const answer = (code: number, baseOffset = 0) => ({ errorCode: code, baseOffset })

describe('the queue of a partition', () => {
  it('sends everything that arrived in the meantime, with consecutive numbers', async () => {
    const queue = createQueue()
    const first = add(queue, 2)
    const sent = queue.beginSend(0, leader)
    expect(sentAs(sent)).toEqual({ producerId: '7', firstSequence: 0, count: 2 })
    const second = add(queue, 3)
    const settled = queue.settle(sent.batch, answer(errorCode.none, 40), 0)
    expect(settled?.batch).toBe(first)
    settled?.report()
    await first.durable
    expect(first.baseOffset).toBe(40)
    expect(second).not.toBe(first)
    expect(sentAs(queue.beginSend(0, leader))).toEqual({
      producerId: '7',
      firstSequence: 2,
      count: 3,
    })
  })

  it('sends a second batch behind the first only if the broker has acknowledged the session', () => {
    const queue = createQueue()
    add(queue, 1)
    const { batch } = queue.beginSend(0, leader)
    add(queue, 1)
    expect(queue.isDue(0, leader)).toBe(false)
    queue.settle(batch, answer(errorCode.none), 0)
    queue.beginSend(0, leader)
    add(queue, 4)
    expect(queue.isDue(0, leader)).toBe(true)
    expect(queue.isDue(60_001, leader)).toBe(false)
    expect(sentAs(queue.beginSend(0, leader))).toMatchObject({ firstSequence: 2, count: 4 })
    add(queue, 1)
    expect(queue.isDue(0, leader)).toBe(false)
  })

  it('sends no second batch to another leader', () => {
    const queue = createKnownQueue()
    add(queue, 1)
    queue.beginSend(0, leader)
    add(queue, 1)
    expect([queue.isDue(0, leader), queue.isDue(0, leader + 1)]).toEqual([true, false])
  })

  it('sends both batches again in order if the first one failed, after both have ended', () => {
    const queue = createKnownQueue()
    add(queue, 2)
    const first = queue.beginSend(0, leader)
    add(queue, 3)
    const second = queue.beginSend(0, leader)
    queue.settle(first.batch, answer(errorCode.notEnoughReplicas), 0)
    expect(queue.isDue(1_000, leader)).toBe(false)
    expect(queue.settle(second.batch, answer(errorCode.outOfOrderSequence), 0)).toBeUndefined()
    expect(sentAs(queue.beginSend(1_000, leader))).toMatchObject({ firstSequence: 1, count: 2 })
    expect(queue.isDue(1_000, leader)).toBe(false)
    expect(queue.settle(first.batch, answer(errorCode.none, 1), 1_000)?.batch).toBe(first.batch)
    expect(sentAs(queue.beginSend(1_000, leader))).toMatchObject({ firstSequence: 3, count: 3 })
  })

  it('keeps the number of the first batch if only the answer for the second one arrived', () => {
    const queue = createKnownQueue()
    add(queue, 2)
    const first = queue.beginSend(0, leader)
    add(queue, 3)
    const second = queue.beginSend(0, leader)
    expect(queue.settle(second.batch, answer(errorCode.none, 3), 0)?.batch).toBe(second.batch)
    queue.fail(first.batch, 0)
    expect(sentAs(queue.beginSend(1_000, leader))).toMatchObject({ firstSequence: 1, count: 2 })
    queue.settle(first.batch, answer(errorCode.none, 1), 1_000)
    add(queue, 1)
    expect(sentAs(queue.beginSend(1_000, leader))).toMatchObject({ firstSequence: 6 })
  })

  it('sends a batch again unchanged, whatever arrived after it', () => {
    const queue = createQueue()
    add(queue, 2)
    const { batch, bytes } = queue.beginSend(0, leader)
    const before = Buffer.from(bytes)
    add(queue, 5)
    queue.fail(batch, 0)
    expect(queue.isDue(0, leader)).toBe(false)
    expect(queue.isDue(1_000, leader)).toBe(true)
    expect(queue.beginSend(1_000, leader).bytes).toEqual(before)
    expect(queue.settle(batch, answer(errorCode.notLeader), 1_000)).toBeUndefined()
    expect(queue.beginSend(2_000, leader).bytes).toEqual(before)
  })

  it('waits longer after each failure, at most half a second', () => {
    const queue = createQueue()
    add(queue, 1)
    const waits = Array.from({ length: 8 }, (_, round) => {
      const nowMs = round * 1_000
      queue.fail(queue.beginSend(nowMs, leader).batch, nowMs)
      return Array.from({ length: 600 }, (_, ms) => ms).find((ms) =>
        queue.isDue(nowMs + ms, leader),
      )
    })
    expect(waits).toEqual([20, 40, 80, 160, 320, 500, 500, 500])
  })

  it('never reuses the number of an abandoned batch for other records', async () => {
    const queue = createQueue()
    const lost = add(queue, 2, 0)
    const { batch } = queue.beginSend(0, leader)
    const later = add(queue, 2, 900)
    const [settled, ...more] = queue.abandonBefore(500, 'too late')
    expect([settled?.batch, more]).toEqual([lost, []])
    settled?.report()
    await expect(lost.durable).rejects.toThrow(EventLogUnavailableError)
    expect(queue.needsSession(900)).toBe(false)
    // Its answer arrives late.
    expect(queue.settle(batch, answer(errorCode.none, 10), 900)).toBeUndefined()
    expect(queue.needsSession(900)).toBe(true)
    expect(queue.useSession(secondSession)).toEqual([])
    const sent = queue.beginSend(900, leader)
    expect(sentAs(sent)).toEqual({ producerId: '8', firstSequence: 0, count: 2 })
    expect(queue.settle(sent.batch, answer(errorCode.none, 12), 900)?.batch).toBe(later)
  })

  it('abandons the second batch in flight with the first, whose session it shares', () => {
    const queue = createKnownQueue()
    const first = add(queue, 1, 0)
    queue.beginSend(0, leader)
    const second = add(queue, 1, 900)
    queue.beginSend(900, leader)
    const third = add(queue, 1, 900)
    const abandoned = queue.abandonBefore(500, 'too late').map(({ batch }) => batch)
    expect(abandoned).toEqual([first, second])
    queue.fail(first, 900)
    queue.fail(second, 900)
    expect(queue.needsSession(2_000)).toBe(true)
    queue.useSession(secondSession)
    expect(queue.beginSend(2_000, leader).batch).toBe(third)
  })

  it('keeps its session when it abandons records that were never sent', async () => {
    const queue = createQueue()
    const lost = add(queue, 2, 0)
    for (const { report } of queue.abandonBefore(500, 'too late')) report()
    await expect(lost.durable).rejects.toThrow('too late')
    add(queue, 1)
    expect([queue.needsSession(0), queue.isDue(0, leader)]).toEqual([false, true])
  })

  it('sends a batch with a new session when the broker has forgotten the old one', () => {
    const queue = createQueue()
    add(queue, 4)
    const { batch } = queue.beginSend(0, leader)
    expect(queue.settle(batch, answer(errorCode.outOfOrderSequence), 0)).toBeUndefined()
    expect(queue.needsSession(1_000)).toBe(true)
    expect(queue.useSession(secondSession)).toEqual([])
    const sent = queue.beginSend(1_000, leader)
    expect(sentAs(sent)).toEqual({ producerId: '8', firstSequence: 0, count: 4 })
  })

  it('refuses a batch that may be stored when its session must end', async () => {
    const queue = createKnownQueue()
    add(queue, 1)
    const first = queue.beginSend(0, leader)
    const second = add(queue, 1)
    queue.beginSend(0, leader)
    queue.settle(first.batch, answer(errorCode.unknownProducerId), 0)
    queue.fail(second, 0)
    const refused = queue.useSession(secondSession)
    expect(refused.map(({ batch }) => batch)).toEqual([second])
    for (const { report } of refused) report()
    await expect(second.durable).rejects.toThrow(EventLogUnavailableError)
    expect(sentAs(queue.beginSend(1_000, leader))).toMatchObject({ firstSequence: 0 })
  })

  it('refuses records that the broker will never accept, and continues with a new session', async () => {
    const queue = createKnownQueue()
    const refused = add(queue, 1)
    queue.beginSend(0, leader)
    const second = add(queue, 1)
    queue.beginSend(0, leader)
    const messageTooLarge = 10
    queue.settle(refused, answer(messageTooLarge), 0)?.report()
    await expect(refused.durable).rejects.toThrow(EventLogUnavailableError)
    queue.settle(second, answer(errorCode.outOfOrderSequence), 0)
    expect(queue.needsSession(1_000)).toBe(true)
    expect(queue.useSession(secondSession)).toEqual([])
    const sent = queue.beginSend(1_000, leader)
    expect(sent.batch).toBe(second)
    expect(sentAs(sent)).toEqual({ producerId: '8', firstSequence: 0, count: 1 })
  })

  it('closes a batch that would become too large', () => {
    const queue = createQueue(100)
    const batches = [1, 2, 3].map(() => queue.add({ value: Buffer.alloc(60) }, 1, 0))
    expect(new Set(batches).size).toBe(3)
    expect(sentAs(queue.beginSend(0, leader)).count).toBe(1)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutgoingBatch } from './outgoing-batch.ts'
import { PartitionQueue, type Settled } from './partition-queue.ts'
import { errorCode } from './wire/error-codes.ts'
import { decodeRecordBatches } from './wire/record-batch.ts'

const leader = 1
const messageTooLarge = 10

type Answer = { readonly errorCode: number; readonly baseOffset: number }
/** How the broker may treat a request that its sequence number does not decide. */
const fates = ['stores', 'stores', 'stores', 'refuses', 'stores and fails', 'never stores'] as const
type Fate = (typeof fates)[number]

/** Kafka's rules for the sequence numbers of idempotent producers, for one partition. */
class ModelBroker {
  readonly log: number[] = []
  readonly #producers = new Map<bigint, { first: number; last: number; baseOffset: number }[]>()

  /** Versions before 2.4 refuse a producer that they do not know; later ones accept any number from it. */
  readonly acceptsUnknown: boolean

  constructor(acceptsUnknown: boolean) {
    this.acceptsUnknown = acceptsUnknown
  }

  forget(): void {
    this.#producers.clear()
  }

  receive(bytes: Buffer, fate: Fate): Answer {
    if (fate === 'refuses') return refused(errorCode.notEnoughReplicas)
    if (fate === 'never stores') return refused(messageTooLarge)
    const answer = this.#store(bytes)
    const isLate = fate === 'stores and fails' && answer.errorCode === errorCode.none
    return isLate ? refused(errorCode.notEnoughReplicasAfterAppend) : answer
  }

  #store(bytes: Buffer): Answer {
    const producerId = bytes.readBigInt64BE(43)
    const first = bytes.readInt32BE(53)
    const last = first + bytes.readInt32BE(57) - 1
    const recent = this.#producers.get(producerId)
    const twin = recent?.find((each) => each.first === first && each.last === last)
    if (twin !== undefined) return { errorCode: errorCode.none, baseOffset: twin.baseOffset }
    if (recent === undefined) {
      if (first !== 0 && !this.acceptsUnknown) return refused(errorCode.unknownProducerId)
    } else if (first !== recent.at(-1)!.last + 1) return refused(errorCode.outOfOrderSequence)
    const baseOffset = this.log.length
    for (const { value } of decodeRecordBatches(bytes, 0, 1_000_000)) {
      this.log.push(Number(Buffer.from(value).toString()))
    }
    // The broker knows the last five batches of a producer.
    this.#producers.set(producerId, [...(recent ?? []), { first, last, baseOffset }].slice(-5))
    return { errorCode: errorCode.none, baseOffset }
  }
}

const refused = (code: number): Answer => ({ errorCode: code, baseOffset: -1 })

type Request = { readonly batch: OutgoingBatch; readonly bytes: Buffer }

/** A queue, its connection to the broker, and requests of broken connections that may still arrive. */
class World {
  readonly broker: ModelBroker
  readonly queue = new PartitionQueue('orders', 0, 200)
  readonly numbers = new Map<OutgoingBatch, number[]>()
  readonly kept = new Set<OutgoingBatch>()
  readonly lost = new Set<OutgoingBatch>()
  nowMs = 0
  inFlightMax = 0
  #nextNumber = 0
  #sessions = 0
  #requests: Request[] = []
  #answers: { readonly batch: OutgoingBatch; readonly answer: Answer }[] = []
  #stray: Request[][] = []

  constructor(acceptsUnknown: boolean) {
    this.broker = new ModelBroker(acceptsUnknown)
  }

  add(count: number): void {
    for (let added = 0; added < count; added++) {
      const number = this.#nextNumber++
      const batch = this.queue.add({ value: Buffer.from(`${number}`) }, 1, this.nowMs)
      batch.durable.catch(() => undefined)
      this.numbers.set(batch, [...(this.numbers.get(batch) ?? []), number])
    }
  }

  send(): void {
    if (this.queue.needsSession(this.nowMs)) {
      this.#settle(this.queue.useSession({ producerId: `${this.#sessions++}`, producerEpoch: 0 }))
    }
    if (!this.queue.isDue(this.nowMs, leader)) return
    const { batch, bytes } = this.queue.beginSend(this.nowMs, leader)
    this.#requests.push({ batch, bytes: Buffer.from(bytes) })
    this.inFlightMax = Math.max(this.inFlightMax, this.#requests.length + this.#answers.length)
  }

  deliver(fate: Fate): void {
    const request = this.#requests.shift()
    if (request === undefined) return
    this.#answers.push({
      batch: request.batch,
      answer: this.broker.receive(request.bytes, fate),
    })
  }

  answer(): void {
    const next = this.#answers.shift()
    if (next === undefined) return
    const settled = this.queue.settle(next.batch, next.answer, this.nowMs)
    if (settled === undefined) return
    if (next.answer.errorCode === errorCode.none) this.kept.add(settled.batch)
    else this.lost.add(settled.batch)
  }

  /** The client sees a broken connection. What it has sent may still arrive, or not. */
  breakConnection(mayArrive: boolean): void {
    for (const { batch } of [...this.#answers, ...this.#requests]) {
      this.queue.fail(batch, this.nowMs)
    }
    if (mayArrive) this.#stray.push(this.#requests)
    this.#requests = []
    this.#answers = []
  }

  deliverStray(which: number): void {
    const connection = this.#stray[which % Math.max(1, this.#stray.length)]
    const request = connection?.shift()
    if (request !== undefined) this.broker.receive(request.bytes, 'stores')
  }

  abandon(afterMs: number): void {
    this.#settle(this.queue.abandonBefore(this.nowMs - afterMs, 'too late'))
  }

  /** A broker forgets a producer that has been inactive for days. */
  forget(): void {
    const onTheWay = [...this.#stray, this.#requests].flat()
    // No request lives that long.
    if (!this.queue.isEmpty || onTheWay.length > 0) return
    this.nowMs += 86_400_000
    this.broker.forget()
  }

  /** Lets everything arrive and be answered. */
  finish(): void {
    for (let round = 0; !this.queue.isEmpty; round++) {
      if (round > 1_000) throw new Error('The queue does not become empty.')
      this.nowMs += 1_000
      this.send()
      this.deliver('stores')
      this.answer()
    }
    while (this.#answers.length > 0) this.answer()
    for (const [which, connection] of this.#stray.entries()) {
      while (connection.length > 0) this.deliverStray(which)
    }
  }

  #settle(all: readonly Settled[]): void {
    for (const { batch } of all) this.lost.add(batch)
  }
}

type Act = (world: World) => void

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 5 }).map(
      (n): Act =>
        (w) =>
          w.add(n),
    ),
  },
  { weight: 6, arbitrary: fc.constant<Act>((w) => w.send()) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(...fates).map(
      (fate): Act =>
        (w) =>
          w.deliver(fate),
    ),
  },
  { weight: 6, arbitrary: fc.constant<Act>((w) => w.answer()) },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (mayArrive): Act =>
        (w) =>
          w.breakConnection(mayArrive),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(5).map(
      (which): Act =>
        (w) =>
          w.deliverStray(which),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: 600 }).map(
      (ms): Act =>
        (w) =>
          void (w.nowMs += ms),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Act>((w) => w.abandon(1_500)) },
  { weight: 1, arbitrary: fc.constant<Act>((w) => w.forget()) },
)

describe('the queue of a partition and a broker', () => {
  it('keep the order of records, each once, whatever fails between two requests', () => {
    let inFlightMax = 0
    let lost = 0
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(act, { minLength: 10, maxLength: 120, size: 'max' }),
        (accepts, acts) => {
          const world = new World(accepts)
          for (const each of acts) each(world)
          world.finish()
          const { log } = world.broker
          expect(new Set(log).size).toBe(log.length)
          for (const batch of world.kept) {
            const numbers = world.numbers.get(batch)!
            expect(log.slice(batch.baseOffset, batch.baseOffset + numbers.length)).toEqual(numbers)
          }
          const keptNumbers = [...world.kept].flatMap((batch) => world.numbers.get(batch)!)
          const isKept = new Set(keptNumbers)
          expect(log.filter((number) => isKept.has(number))).toEqual(
            keptNumbers.sort((a, b) => a - b),
          )
          expect(world.kept.size + world.lost.size).toBe(world.numbers.size)
          inFlightMax = Math.max(inFlightMax, world.inFlightMax)
          lost += world.lost.size
        },
      ),
      { numRuns: 20_000 },
    )
    expect(inFlightMax).toBe(2)
    expect(lost).toBeGreaterThan(0)
  })
})

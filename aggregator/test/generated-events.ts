import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { meterEvent } from './meter-event.ts'

const dayMs = 86_400_000

/** Repeatable pseudo-random numbers in [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Traffic with repeated keys (one in ten), late events (one in twenty, up to 60 days) and outcomes that do not count. */
export class EventGenerator {
  readonly customerRefs: readonly string[]
  readonly #random: () => number
  readonly #nowMs: number
  readonly #keyed: MeterEvent[] = []
  #next = 0

  constructor(seed: number, customerTotal: number, nowMs: number) {
    this.#random = seededRandom(seed)
    this.#nowMs = nowMs
    this.customerRefs = Array.from({ length: customerTotal }, (_, index) => `cus_${index}`)
  }

  take(total: number): MeterEvent[] {
    return Array.from({ length: total }, () => this.#one())
  }

  #one(): MeterEvent {
    const random = this.#random
    const chance = random()
    if (chance < 0.1 && this.#keyed.length > 0) {
      return this.#keyed[Math.floor(random() * this.#keyed.length)]!
    }
    const isKeyed = random() < 0.5
    const isLate = random() < 0.05
    const number = this.#next++
    const event = meterEvent({
      id: `usage_${String(number).padStart(26, '0')}`,
      idempotencyKey: isKeyed ? `key-${number}` : null,
      customerRef: this.customerRefs[Math.floor(random() * this.customerRefs.length)]!,
      value: Math.floor(random() * 10_000_000),
      timestamp: this.#nowMs - Math.floor(random() * (isLate ? 60 * dayMs : 5_000)),
      receivedAt: this.#nowMs,
      outcome: random() < 0.9 ? 'success' : random() < 0.5 ? 'paywall' : 'fail',
      productRef: random() < 0.5 ? 'prd_all' : null,
    })
    if (isKeyed) this.#keyed.push(event)
    return event
  }
}

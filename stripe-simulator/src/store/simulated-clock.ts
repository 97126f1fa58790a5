import type { Clock } from '@tollgate/platform/clock/clock'
import type { KeyValueStore } from './key-value-store.ts'

const key = 'clock'

/** The clock of the simulator. It runs as fast as the real clock, and can be moved forward or held. */
export class SimulatedClock implements Clock {
  readonly #store: KeyValueStore
  readonly #real: Clock
  #setting: { readonly offsetMs: number; readonly heldAtMs?: number }

  constructor(store: KeyValueStore, real: Clock) {
    this.#store = store
    this.#real = real
    const stored = store.get(key)
    this.#setting =
      stored === undefined
        ? { offsetMs: 0 }
        : (JSON.parse(stored) as { offsetMs: number; heldAtMs?: number })
  }

  now(): number {
    return this.#setting.heldAtMs ?? this.#real.now() + this.#setting.offsetMs
  }

  /** Moves the clock to a time. Throws RangeError for a past time, because actions of that time would not be executed again. */
  moveTo(timeMs: number, isHeld: boolean): void {
    if (timeMs < this.now()) throw new RangeError('The clock cannot be moved back.')
    this.#keep(timeMs - this.#real.now(), isHeld ? timeMs : undefined)
  }

  /** Moves the clock forward by an amount from its time at this call. */
  moveBy(ms: number, isHeld: boolean): void {
    const realMs = this.#real.now()
    const timeMs = (this.#setting.heldAtMs ?? realMs + this.#setting.offsetMs) + ms
    this.#keep(timeMs - realMs, isHeld ? timeMs : undefined)
  }

  #keep(offsetMs: number, heldAtMs: number | undefined): void {
    this.#setting = heldAtMs === undefined ? { offsetMs } : { offsetMs, heldAtMs }
    this.#store.commit(new Map([[key, JSON.stringify(this.#setting)]]))
  }
}

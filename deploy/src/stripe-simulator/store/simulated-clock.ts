import type { Clock } from '@tollgate/platform/clock/clock'
import type { Pages } from './pages.ts'

const key = 'clock'

/** The time of the simulated Stripe: it runs as fast as the real one, and can be moved forward or held. */
export class SimulatedClock implements Clock {
  readonly #pages: Pages
  readonly #real: Clock
  #setting: { readonly offsetMs: number; readonly heldAtMs?: number }

  constructor(pages: Pages, real: Clock) {
    this.#pages = pages
    this.#real = real
    const stored = pages.get(key)
    this.#setting =
      stored === undefined
        ? { offsetMs: 0 }
        : (JSON.parse(stored) as { offsetMs: number; heldAtMs?: number })
  }

  now(): number {
    return this.#setting.heldAtMs ?? this.#real.now() + this.#setting.offsetMs
  }

  /** Throws RangeError for a time that has passed: what happened then would not happen again. */
  moveTo(timeMs: number, isHeld: boolean): void {
    if (timeMs < this.now()) throw new RangeError('The clock cannot be moved back.')
    const offsetMs = timeMs - this.#real.now()
    this.#setting = isHeld ? { offsetMs, heldAtMs: timeMs } : { offsetMs }
    this.#pages.commit(new Map([[key, JSON.stringify(this.#setting)]]))
  }
}

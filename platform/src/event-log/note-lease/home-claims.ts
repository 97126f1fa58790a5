import { randomBytes } from 'node:crypto'
import type { HomeNotes } from './home-notes.ts'
import type { Lease } from './lease.ts'

export type HomeClaimsParts = {
  readonly lease: Lease
  readonly homeNotes: Pick<HomeNotes, 'claim'>
  /** Topics whose heads are noted. */
  readonly topics: readonly string[]
}

const lookEveryMs = 500
/** Time without a home before one is claimed, so that a server that fails again and again delays few acknowledgements. */
const homelessMs = { min: 3_000, max: 60_000 }
/** A home that lasted for this long was not lost to a server that fails again and again. */
const lastingMs = 60_000

/** Finds a new home for the notes when there is none. */
export class HomeClaims {
  readonly #parts: HomeClaimsParts
  #timer: NodeJS.Timeout | undefined
  #waitMs = homelessMs.min
  #hadHomeSinceMs: number | undefined
  #isClosed = false

  constructor(parts: HomeClaimsParts) {
    this.#parts = parts
  }

  start(): void {
    this.#schedule()
  }

  stop(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#isClosed) return
    // Two processes that claim at the same time take the notes from each other, so they look at different times.
    this.#timer = setTimeout(
      () => {
        void this.#look()
          // Without an answer of Redis or of the log there is no home, and the next look tries again.
          .catch(() => undefined)
          .then(() => this.#schedule())
      },
      lookEveryMs * (0.5 + Math.random()),
    )
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { lease, homeNotes, topics } = this.#parts
    this.#watch()
    const { record } = lease
    if (record.home !== null || lease.knownForMs() < this.#waitMs) return
    await lease.confirm()
    if (!this.#mayClaim(record)) return
    const home = await homeNotes.claim(topics, randomBytes(12).toString('base64url'))
    if (home !== undefined && this.#mayClaim(record)) await lease.propose(home)
  }

  #mayClaim(record: Lease['record']): boolean {
    const { lease } = this.#parts
    return lease.record === record && lease.isSettled() && lease.isValid() && !this.#isClosed
  }

  #watch(): void {
    const hasHome = this.#parts.lease.record.home !== null
    if (hasHome) this.#hadHomeSinceMs ??= performance.now()
    else if (this.#hadHomeSinceMs !== undefined) {
      const isLasting = performance.now() - this.#hadHomeSinceMs > lastingMs
      this.#waitMs = isLasting ? homelessMs.min : Math.min(2 * this.#waitMs, homelessMs.max)
      this.#hadHomeSinceMs = undefined
    }
  }
}

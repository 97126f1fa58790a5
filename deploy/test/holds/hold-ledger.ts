/** Amounts by series: units of meters, and `credits` in 10^-6. */
export type Amounts = Readonly<Record<string, number>>

export type Cap = { readonly series: string; readonly cap: number }

/** A hold as its client knows it. Times are in Unix milliseconds; the services run on the same clock. */
export type Hold = {
  readonly held: Amounts
  readonly sentAtMs: number
  /** Usage is counted by another partition than the one that holds. */
  readonly isUsedElsewhere: boolean
  /** Set when the hold is answered. */
  id: string | undefined
  /** Until then it is held, unless its caller ends it. 0 until it is answered. */
  heldUntilMs: number
  /** From then on it is not held, whatever happened. */
  goneAtMs: number
  /** When the caller first sent a request that ends it. Infinity before that. */
  endsFromMs: number
  /** Used amounts that were sent, and those of them that were acknowledged. */
  sent: Amounts
  acked: Amounts
  lastAckAtMs: number
}

/**
 * How long before its expiry the usage of a hold must be acknowledged, in milliseconds. The hold may expire before later usage is
 * counted, and a caller that read the log before it (for up to TOLLGATE_COUNTERS_WAIT_MS) sees neither. Later usage is recorded,
 * but it was not admitted by the hold.
 */
export const usedBeforeExpiryMs = 3_000
/** Milliseconds until a hold that was ended by usage of another partition is surely not held any more, if no process was killed. */
const settledElsewhereMs = 5_000

/**
 * Holds and usage as the clients of one customer know them. At every moment it has a lower and an upper bound of what is taken: the
 * sum of used and held amounts that the service compares with the caps.
 */
export class HoldLedger {
  readonly #caps: readonly Cap[]
  readonly #holds: Hold[] = []
  /** Amounts that were used without being held in time. They are counted, but nothing has admitted them. */
  #late: Amounts = {}
  #countersKilledAtMs = 0

  constructor(caps: readonly Cap[]) {
    this.#caps = caps
  }

  get acked(): Amounts {
    return this.#holds.map(({ acked }) => acked).reduce(addAmounts, {})
  }

  /** Returns the time from which no hold can be left, in Unix milliseconds. */
  get allGoneAtMs(): number {
    return Math.max(0, ...this.#holds.map((hold) => Math.max(hold.goneAtMs, hold.heldUntilMs)))
  }

  countersKilled(nowMs: number): void {
    this.#countersKilledAtMs = nowMs
  }

  /** Enters a request for a hold before it is sent. It may be held from now on. */
  request(held: Amounts, isUsedElsewhere: boolean, nowMs: number): Hold {
    const hold: Hold = {
      ...{ held, isUsedElsewhere, sentAtMs: nowMs, id: undefined },
      ...{ heldUntilMs: 0, goneAtMs: Infinity, endsFromMs: Infinity },
      ...{ sent: {}, acked: {}, lastAckAtMs: 0 },
    }
    this.#holds.push(hold)
    return hold
  }

  admit(hold: Hold, id: string, expiresAtMs: number): void {
    hold.id = id
    hold.heldUntilMs = expiresAtMs
    hold.goneAtMs = expiresAtMs
  }

  /** The service holds nothing for the request. */
  refuse(hold: Hold, nowMs: number): void {
    hold.goneAtMs = nowMs
  }

  /** The caller does not wait for the answer. The hold may be made until `latestMs`, and expires after its lifetime. */
  lose(hold: Hold, ttlMs: number, latestMs: number): void {
    hold.goneAtMs = latestMs + ttlMs
  }

  beginExtension(hold: Hold): void {
    hold.goneAtMs = Infinity
  }

  extend(hold: Hold, expiresAtMs: number): void {
    hold.heldUntilMs = Math.max(hold.heldUntilMs, expiresAtMs)
    hold.goneAtMs = hold.heldUntilMs
  }

  /** Enters usage of a hold before it is sent. */
  use(hold: Hold, amounts: Amounts, isFinal: boolean, nowMs: number): void {
    hold.sent = addAmounts(hold.sent, amounts)
    if (isFinal) hold.endsFromMs = nowMs
  }

  acknowledge(hold: Hold, amounts: Amounts, isFinal: boolean, nowMs: number): void {
    hold.acked = addAmounts(hold.acked, amounts)
    hold.lastAckAtMs = nowMs
    if (nowMs > hold.heldUntilMs - usedBeforeExpiryMs) this.#late = addAmounts(this.#late, amounts)
    if (!isFinal) return
    // An end that another partition counts may be lost with the process that counts it. The hold then expires.
    const endsAtMs = hold.isUsedElsewhere ? nowMs + settledElsewhereMs : nowMs
    hold.goneAtMs = Math.min(hold.goneAtMs, endsAtMs)
  }

  beginRelease(hold: Hold, nowMs: number): void {
    hold.endsFromMs = nowMs
  }

  release(hold: Hold, nowMs: number): void {
    hold.goneAtMs = Math.min(hold.goneAtMs, nowMs)
  }

  /** Returns what of a hold is not used yet, counting usage that was sent. */
  restOf({ held, sent }: Hold, series: string): number {
    return Math.max(0, (held[series] ?? 0) - (sent[series] ?? 0))
  }

  /** Returns a line for each cap that is exceeded by what is certainly used or held now. */
  exceededCaps(nowMs: number): string[] {
    return this.#caps.flatMap(({ series, cap }) => {
      const taken = this.#sum((hold) => certainlyTaken(hold, series, nowMs))
      const late = this.#late[series] ?? 0
      if (taken <= cap + late) return []
      return [`${series}: ${taken} are used or held of ${cap}, ${late} of them late`]
    })
  }

  /**
   * Returns a line if a refusal cannot be explained: the cap that the answer names was not exceeded by the requested amounts beside
   * everything that may have been used or held at a moment since the request was sent. Holds of credits need room under every cap.
   */
  unexplainedRefusal(refused: Hold, blockedBy: string): string[] {
    const isOfCredits = Object.keys(refused.held).every((series) => series === 'credits')
    const caps = this.#caps.filter(({ series }) => series === blockedBy)
    const rests = caps.map(({ series, cap }) => {
      const others = this.#holds.filter((hold) => hold !== refused)
      const taken = others.reduce(
        (sum, hold) => sum + this.#possiblyTaken(hold, series, refused.sentAtMs),
        0,
      )
      const asked = refused.held[series] ?? (isOfCredits ? 1 : 0)
      return { series, asked, rest: cap - taken }
    })
    if (rests.some(({ asked, rest }) => asked > 0 && asked > rest)) return []
    return [`${JSON.stringify(refused.held)} was refused by ${blockedBy}: ${JSON.stringify(rests)}`]
  }

  /** Returns how much of a series is certainly left, at least 0: a hold of it must be admitted unless others are sent meanwhile. */
  certainlyLeft(series: string, nowMs: number): number {
    const cap = this.#caps.find((each) => each.series === series)!.cap
    return Math.max(0, cap - this.#sum((hold) => this.#possiblyTaken(hold, series, nowMs)))
  }

  #possiblyTaken(hold: Hold, series: string, sentAtMs: number): number {
    const { held, sent, isUsedElsewhere } = hold
    const used = sent[series] ?? 0
    if (this.#goneAt(hold) < sentAtMs) return used
    // Usage that another partition counts is for a moment both used and held.
    return isUsedElsewhere ? (held[series] ?? 0) + used : Math.max(held[series] ?? 0, used)
  }

  #goneAt({ isUsedElsewhere, endsFromMs, goneAtMs, heldUntilMs }: Hold): number {
    const mayBeLost = isUsedElsewhere && this.#countersKilledAtMs >= endsFromMs
    return mayBeLost ? Math.max(goneAtMs, heldUntilMs) : goneAtMs
  }

  #sum(amountOf: (hold: Hold) => number): number {
    return this.#holds.reduce((sum, hold) => sum + amountOf(hold), 0)
  }
}

function certainlyTaken(hold: Hold, series: string, nowMs: number): number {
  const used = hold.acked[series] ?? 0
  const isHeld = hold.heldUntilMs > nowMs && hold.endsFromMs > nowMs
  return isHeld ? Math.max(hold.held[series] ?? 0, used) : used
}

function addAmounts(one: Amounts, other: Amounts): Amounts {
  const sum: Record<string, number> = { ...one }
  for (const [series, amount] of Object.entries(other)) sum[series] = (sum[series] ?? 0) + amount
  return sum
}

import type { SeededRandom } from '../../../tools/src/client/seeded-random.ts'
import { usedBeforeExpiryMs, type Amounts, type Hold, type HoldLedger } from './hold-ledger.ts'
import { cappedMeters, meterOfLimit, withPrice, type Market } from './hold-market.ts'
import type { HoldRequests, HeldAnswer } from './hold-requests.ts'

/** The parts that all callers of one customer share. */
export type HoldStory = {
  readonly seed: number
  readonly market: Market
  readonly ledger: HoldLedger
  readonly requests: HoldRequests
  readonly newKey: () => string
  /** One line for each wrong answer. */
  readonly problems: string[]
  /** Number of answered acts by kind. */
  readonly tally: Map<string, number>
  /** When the newest request for a hold was sent whose answer shows that everything acknowledged before it is counted. */
  countedAtMs: number
}

const ttlSeconds = 7
const shortTtlSeconds = 1
/** Milliseconds in which an abandoned request may still be carried out. */
const abandonedMsMax = 10_000
/** Usage begins only if this much of the lifetime is left, because a service may be down meanwhile. */
const useBeforeExpiryMs = usedBeforeExpiryMs + 1_000

/** Does acts at random: one caller of a customer, who has several holds at a time and uses at most what they hold. */
export class HoldCaller {
  readonly #story: HoldStory
  readonly #random: SeededRandom
  #holds: Hold[] = []

  constructor(story: HoldStory, random: SeededRandom) {
    this.#story = story
    this.#random = random
  }

  async act(): Promise<void> {
    const { tally, problems, ledger } = this.#story
    this.#holds = this.#holds.filter(({ heldUntilMs, endsFromMs }) => {
      return endsFromMs === Infinity && heldUntilMs - useBeforeExpiryMs > Date.now()
    })
    const hold = this.#holds.length === 0 ? undefined : this.#random.pick(this.#holds)
    const kind = this.#random.pick(hold === undefined ? beginnings : acts)
    await this.#do(kind, hold)
    tally.set(kind, (tally.get(kind) ?? 0) + 1)
    problems.push(...ledger.exceededCaps(Date.now()))
  }

  /** Ends what this caller holds, by its last usage or by a release. */
  async end(): Promise<void> {
    for (const hold of this.#holds) {
      if (hold.endsFromMs === Infinity && hold.heldUntilMs - useBeforeExpiryMs > Date.now()) {
        await this.#use(hold, true)
      }
    }
  }

  #do(kind: Act, hold: Hold | undefined): Promise<void> {
    switch (kind) {
      case 'hold':
        return this.#hold(this.#drawAmounts(), ttlSeconds)
      case 'leave':
        return this.#hold(this.#drawAmounts(), shortTtlSeconds)
      case 'fill':
        return this.#fill()
      case 'credits':
        if (!this.#story.market.isPrepaid) return this.#hold(this.#drawAmounts(), ttlSeconds)
        return this.#hold({ credits: this.#random.integer(1, 12) * 250_000 }, ttlSeconds)
      case 'lose':
        return this.#lose()
      case 'batch':
        return this.#batch()
      case 'part':
        return this.#use(hold!, false)
      case 'parts':
        return Promise.all([this.#use(hold!, false), this.#use(hold!, false)]).then(() => undefined)
      case 'final':
        return this.#use(hold!, true)
      case 'release':
        return this.#release(hold!)
      case 'extend':
        return this.#extend(hold!)
    }
  }

  #drawAmounts(): Amounts {
    const amounts = {
      input: this.#random.integer(1, 2_000),
      output: this.#random.integer(1, 500),
      calls: this.#random.integer(1, 3),
    }
    // Most calls hold every meter, and some only one.
    if (this.#random.chance(0.7)) return amounts
    const meter = this.#random.pick(cappedMeters)
    return { [meter]: amounts[meter] }
  }

  #request(amounts: Amounts): Hold {
    const { ledger, market } = this.#story
    const held = 'credits' in amounts ? amounts : withPrice(amounts, market)
    return ledger.request(held, !market.isPrepaid, Date.now())
  }

  async #hold(amounts: Amounts, lifetimeSeconds: number): Promise<void> {
    const { requests, newKey } = this.#story
    const hold = this.#request(amounts)
    const { body, isFirst } = await requests.hold(amounts, lifetimeSeconds, newKey())
    if (isFirst) this.#counted(hold)
    this.#answered(hold, body)
  }

  /** The answer was decided by counters that had reached the log of the time when the request was sent. */
  #counted({ sentAtMs, held }: Hold): void {
    const isOfUnits = cappedMeters.some((meter) => meter in held)
    if (isOfUnits) this.#story.countedAtMs = Math.max(this.#story.countedAtMs, sentAtMs)
  }

  #answered(hold: Hold, { withinLimits, reservation, blockedBy }: HeldAnswer): void {
    const { ledger, problems, tally } = this.#story
    if (withinLimits !== (reservation !== undefined)) {
      problems.push(`withinLimits is ${withinLimits}, reservation ${JSON.stringify(reservation)}`)
    }
    if (reservation !== undefined) {
      ledger.admit(hold, reservation.id, Date.parse(reservation.expiresAt))
      this.#holds.push(hold)
      return
    }
    tally.set('refused', (tally.get('refused') ?? 0) + 1)
    const { reason, limit = '' } = blockedBy ?? {}
    const series = reason === 'credits' ? reason : (meterOfLimit[limit] ?? 'nothing')
    problems.push(...ledger.unexplainedRefusal(hold, series))
    ledger.refuse(hold, Date.now())
  }

  /** Asks for as much of a meter as must still be left, so that a hold that keeps too much is noticed. */
  async #fill(): Promise<void> {
    const meter = this.#random.pick(cappedMeters)
    const left = this.#story.ledger.certainlyLeft(meter, Date.now())
    if (left > 0) await this.#hold({ [meter]: left }, shortTtlSeconds)
  }

  async #lose(): Promise<void> {
    const { requests, ledger, newKey } = this.#story
    const amounts = this.#drawAmounts()
    const hold = this.#request(amounts)
    await requests.lose(amounts, shortTtlSeconds, newKey())
    ledger.lose(hold, shortTtlSeconds * 1_000, Date.now() + abandonedMsMax)
  }

  async #batch(): Promise<void> {
    const { requests, ledger, newKey, problems } = this.#story
    const allOrNothing = this.#random.chance(0.5)
    const each = Array.from({ length: this.#random.integer(2, 4) }, () => {
      const amounts = this.#drawAmounts()
      return { amounts, key: newKey(), hold: this.#request(amounts) }
    })
    const { body, isFirst } = await requests.batch(each, ttlSeconds, allOrNothing)
    if (isFirst) each.forEach(({ hold }) => this.#counted(hold))
    const { results } = body
    const isRefused = results.some(({ status }) => status === 'refused')
    for (const [index, { hold }] of each.entries()) {
      const { status, limits } = results[index]!
      if (status === 'held' || status === 'refused') {
        this.#answered(hold, limits!)
        continue
      }
      if (status !== 'not_held' || !allOrNothing || !isRefused) problems.push(`a batch: ${status}`)
      ledger.refuse(hold, Date.now())
    }
  }

  /** Uses a random part of what the hold has left, or ends it with that. */
  async #use(hold: Hold, isFinal: boolean): Promise<void> {
    const { requests, ledger, newKey, market, problems } = this.#story
    const amounts = withPrice(this.#drawUsage(hold), market)
    ledger.use(hold, amounts, isFinal, Date.now())
    const { body, isFirst } = await requests.use(amounts, hold.id!, isFinal, newKey())
    const nowMs = Date.now()
    ledger.acknowledge(hold, amounts, isFinal, nowMs)
    const isInTime = nowMs <= hold.heldUntilMs - usedBeforeExpiryMs
    if (isFirst && isInTime) problems.push(...wrongDebit(amounts, body.creditDebit))
  }

  #drawUsage(hold: Hold): Amounts {
    const { ledger } = this.#story
    const upTo = (most: number): number => this.#random.integer(0, Math.floor(most))
    const isOfCredits = cappedMeters.every((meter) => !(meter in hold.held))
    if (isOfCredits) return { images: upTo(ledger.restOf(hold, 'credits') / 250_000) }
    return Object.fromEntries(
      cappedMeters.map((meter) => [meter, upTo(ledger.restOf(hold, meter))]),
    )
  }

  /** A release also drops parts that are not counted yet, so the caller waits until they are (docs/decisions/reservations.md). */
  async #release(hold: Hold): Promise<void> {
    const { ledger, requests, problems } = this.#story
    if (hold.lastAckAtMs >= this.#story.countedAtMs) return
    const isHeld = hold.heldUntilMs > Date.now() + 100
    ledger.beginRelease(hold, Date.now())
    const { body, isFirst } = await requests.release(hold.id!)
    const isUsedUp = Object.keys(hold.held).every((series) => ledger.restOf(hold, series) === 0)
    if (isFirst && isHeld && hold.heldUntilMs > Date.now() && !isUsedUp && !body.released) {
      problems.push(`${hold.id} is not held, although it has not expired and was not ended`)
    }
    ledger.release(hold, Date.now())
  }

  async #extend(hold: Hold): Promise<void> {
    const { ledger, requests, problems } = this.#story
    ledger.beginExtension(hold)
    const expiresAtMs = await requests.extend(hold.id!, ttlSeconds)
    if (expiresAtMs !== undefined) return ledger.extend(hold, expiresAtMs)
    const isUsedUp = Object.keys(hold.held).every((series) => ledger.restOf(hold, series) === 0)
    if (hold.heldUntilMs > Date.now() && !isUsedUp) {
      problems.push(`${hold.id} cannot be extended, although it has not expired and was not ended`)
    }
    ledger.extend(hold, hold.heldUntilMs)
  }
}

const beginnings = ['hold', 'hold', 'hold', 'leave', 'credits', 'batch', 'lose'] as const
const acts = [
  ...beginnings,
  'fill',
  'fill',
  'part',
  'part',
  'part',
  'parts',
  'final',
  'release',
  'extend',
] as const
type Act = (typeof acts)[number]

/** Usage within a hold costs exactly its price, because its credits are held. */
function wrongDebit(
  { credits }: Amounts,
  debit: { readonly credits?: string; readonly shortfall?: string } | undefined,
): string[] {
  if (credits === undefined || credits === 0) return []
  const paid = Math.round(Number(debit?.credits) * 1_000_000)
  if (paid === credits && debit?.shortfall === undefined) return []
  return [`usage of ${credits} held credits (10^-6) was debited ${JSON.stringify(debit)}`]
}

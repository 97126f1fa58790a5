import type {
  CreditScheduleExpiry,
  ScheduleInterval,
} from '@tollgate/schemas/http/credit-schedules'

/* An independent model of scheduled grants: a wallet as a list of grants, and dates computed with `Intl`. Times in Unix milliseconds. */

export type ModelTerms = {
  credits: number
  every: ScheduleInterval
  timeZone: string
  grantsMax: number | null
  expiry: CreditScheduleExpiry
  rollOverMax: number
}

type ModelGrant = { left: number; expired: number; readonly expiresAt: number }

export class ScheduleModel {
  status: 'active' | 'paused' | 'ended' = 'active'
  readonly outcomes: string[] = []
  readonly #grants: ModelGrant[] = []
  #last: ModelGrant | undefined
  #due = 0

  terms: ModelTerms
  #countedFrom: number
  #step = 0

  constructor(terms: ModelTerms, countedFrom: number) {
    this.terms = terms
    this.#countedFrom = countedFrom
  }

  get next(): number {
    return dateOf(this.terms, this.#countedFrom, this.#step)
  }

  get balance(): number {
    return this.#grants.reduce((sum, { left }) => sum + left, 0)
  }

  expire(now: number): void {
    for (const grant of this.#grants) {
      if (grant.expiresAt > now) continue
      grant.expired += grant.left
      grant.left = 0
    }
  }

  run(now: number): void {
    this.expire(now)
    while (this.status === 'active' && this.next <= now) {
      const { credits, expiry, rollOverMax } = this.terms
      const expiresAt =
        expiry === 'never'
          ? Infinity
          : expiry === 'next_grant'
            ? dateOf(this.terms, this.#countedFrom, this.#step + 1)
            : this.next + expiry.days * 86_400_000
      const amount = credits + Math.min(rollOverMax, this.#last?.expired ?? 0)
      const isLapsed = expiresAt <= now
      const grant = { left: isLapsed ? 0 : amount, expired: isLapsed ? amount : 0, expiresAt }
      this.#last = grant
      this.#grants.push(grant)
      this.outcomes.push(isLapsed ? 'lapsed' : 'granted')
      this.#step += 1
      this.#due += 1
      this.#endIfDone()
    }
  }

  spend(credits: number, now: number): number {
    this.expire(now)
    let left = credits
    for (const grant of this.#grants.toSorted((one, other) => one.expiresAt - other.expiresAt)) {
      const part = Math.min(grant.left, left)
      grant.left -= part
      left -= part
    }
    return credits - left
  }

  pause(): void {
    if (this.status === 'active') this.status = 'paused'
  }

  resume(now: number): void {
    if (this.status !== 'paused') return
    while (this.next < now) this.#step += 1
    this.status = 'active'
  }

  change(change: Partial<ModelTerms>): void {
    if (this.status === 'ended') return
    if (change.every !== undefined || change.timeZone !== undefined) {
      this.#countedFrom = this.next
      this.#step = 0
    }
    this.terms = { ...this.terms, ...change }
    this.#endIfDone()
  }

  end(): void {
    this.status = 'ended'
  }

  #endIfDone(): void {
    const { grantsMax } = this.terms
    if (grantsMax !== null && this.#due >= grantsMax) this.status = 'ended'
  }
}

/** Returns the date that is `step` steps after the first one, with the same local time. */
export function dateOf(
  { every, timeZone }: Pick<ModelTerms, 'every' | 'timeZone'>,
  countedFrom: number,
  step: number,
): number {
  const start = new Date(localOf(countedFrom, timeZone))
  const steps = step * every.count
  const wanted = new Date(start)
  if (every.unit === 'month') {
    wanted.setUTCDate(1)
    wanted.setUTCMonth(wanted.getUTCMonth() + steps)
    const last = new Date(Date.UTC(wanted.getUTCFullYear(), wanted.getUTCMonth() + 1, 0))
    wanted.setUTCDate(Math.min(start.getUTCDate(), last.getUTCDate()))
  } else {
    wanted.setUTCDate(wanted.getUTCDate() + steps * (every.unit === 'week' ? 7 : 1))
  }
  // The first guess may have the offset of the other side of a clock change, so the offset is read again at the guess.
  const first = 2 * wanted.getTime() - localOf(wanted.getTime(), timeZone)
  return first + wanted.getTime() - localOf(first, timeZone)
}

/** Returns the local time of the zone as if it were UTC. */
function localOf(at: number, timeZone: string): number {
  const numeric = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const parts = new Intl.DateTimeFormat('en-US', {
    ...numeric,
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
    ...{ hourCycle: 'h23', timeZone },
  }).formatToParts(new Date(at))
  const part = (type: string): number => Number(parts.find((each) => each.type === type)!.value)
  const [year, month, day] = [part('year'), part('month'), part('day')]
  return Date.UTC(year, month - 1, day, part('hour'), part('minute'), part('second'))
}

import { environments } from '@tollgate/schemas/environment'
import { performRandomAct, actNames } from './acts.ts'
import { openOffers } from './catalogue.ts'
import { readCarriedIn } from './read-carried-in.ts'
import { readUnfinishedCharges } from './read-unfinished-charges.ts'
import { Comparison } from './compare.ts'
import { Desk } from './desk.ts'
import { Installation } from './installation.ts'
import {
  findDifferences,
  findUndeletedCustomers,
  findWrongBalances,
  findUnbalancedBooks,
  findWrongCharges,
  findWrongUsage,
  findWrongWallets,
  verifyLedger,
} from './invariants.ts'
import { dayMs, hourMs } from './model/calendar.ts'
import { noUnfinishedCharges } from './model/customer.ts'
import { modelJobs } from './model/jobs.ts'
import { dinars, dollars, yen } from './model/money.ts'
import { countPurchases } from './occurrences.ts'
import { Person } from './person.ts'
import { readRecharges } from './read-recharges.ts'
import { Random } from './random.ts'
import { Scheduler } from './scheduler.ts'

export type YearOptions = {
  readonly seed: number
  readonly customers: number
  readonly days: number
  /** Start of the year, at midnight. */
  readonly startsAt: string
  /** Percentage of customers who act on a day. */
  readonly actsPercent: number
  /** Percentage of processes that die. */
  readonly killsPercent: number
  readonly print: (line: string) => void
}

export type YearFigures = {
  readonly kills: number
  readonly events: number
  readonly usageRecords: number
  /** How often each possible thing happened. */
  readonly happened: Readonly<Record<string, number>>
}

/** Hours of a day at which the schedulers run: at the daily jobs of the contract, and long after them. */
const roundHours = [8, 10, 11, 16]

/** The last acts of a day are before this time, and expiries of the day after it. */
const lastActMs = 23.9 * hourMs

/** The sellers. Each sells in both environments. */
const sellers = [
  { mode: 'calendar', currency: dollars, isTaxed: false, issuesZero: false },
  { mode: 'fixed_days', currency: dollars, isTaxed: true, issuesZero: true },
  { mode: 'calendar', currency: yen, isTaxed: true, issuesZero: false },
  { mode: 'calendar', currency: dinars, isTaxed: false, issuesZero: true },
] as const

/** One installation over several months, and the model of it. */
export class Year {
  readonly #options: YearOptions
  readonly #random: Random
  readonly #installation: Installation
  readonly #scheduler: Scheduler
  readonly #comparison: Comparison
  readonly #people: Person[] = []
  readonly #desk: Desk
  readonly #acts = new Map(actNames.map((name) => [name, 0]))

  private constructor(options: YearOptions, installation: Installation) {
    const { seed, killsPercent } = options
    this.#options = options
    this.#random = new Random(seed)
    this.#installation = installation
    this.#comparison = new Comparison(installation)
    this.#scheduler = new Scheduler(installation, { seed, killsPercent })
    this.#desk = new Desk(installation, this.#scheduler)
  }

  /** Runs the year. Throws at the end of the first day with a difference. */
  static async run(options: YearOptions): Promise<YearFigures> {
    const installation = await Installation.open(options.startsAt)
    try {
      const year = new Year(options, installation)
      await year.#open()
      for (let day = 0; day < options.days; day++) await year.#live(day)
      await year.#balance()
      return year.#figures()
    } finally {
      await installation.close()
    }
  }

  async #open(): Promise<void> {
    const shops = []
    for (const terms of sellers) {
      const seller = await this.#installation.openSeller(terms)
      for (const environment of environments) {
        const offers = await openOffers(seller, environment)
        shops.push({ seller, environment, offers })
      }
    }
    for (let count = 0; count < this.#options.customers; count++) {
      const parts = { installation: this.#installation, scheduler: this.#scheduler }
      const shop = shops[count % shops.length]!
      this.#people.push(await Person.arrive({ ...parts, ...shop }, count))
    }
  }

  /** Plays one day: the acts of people, and the schedulers in between. */
  async #live(day: number): Promise<void> {
    const { clock } = this.#installation
    const startsAt = Date.parse(this.#options.startsAt) + day * dayMs
    for (const [at, act] of this.#agenda(startsAt)) {
      clock.set(Math.max(at, clock.now()))
      try {
        await act()
      } catch (error) {
        throw new Error(`${this.#how()}, at ${new Date(at).toISOString()}`, { cause: error })
      }
    }
    clock.set(startsAt + dayMs - 500)
    await this.#scheduler.runPayments()
    for (const { model } of this.#people) model.wallet.expire(clock.now())
    const date = new Date(startsAt).toISOString().slice(0, 10)
    this.#require(`at the end of ${date}`, [
      ...(await this.#comparison.compare(this.#people)),
      ...(await findWrongWallets(this.#installation, this.#people)),
    ])
    if (date.endsWith('-01')) this.#options.print(`${date} ${JSON.stringify(this.#figures())}`)
  }

  #agenda(startsAt: number): (readonly [number, () => Promise<void>])[] {
    const random = this.#random
    const rounds = roundHours.map(
      (hour) => [startsAt + hour * hourMs, () => this.#round()] as const,
    )
    const acts = this.#people
      .filter(
        ({ hasStoppedPaying }) => random.happens(this.#options.actsPercent) && !hasStoppedPaying,
      )
      .map((person) => {
        const act = async (): Promise<void> => {
          const name = await performRandomAct(random, person, this.#desk)
          if (name !== undefined) this.#acts.set(name, this.#acts.get(name)! + 1)
        }
        return [startsAt + random.between(1, lastActMs), act] as const
      })
    return [...rounds, ...acts].sort(([one], [other]) => one - other)
  }

  async #round(): Promise<void> {
    await this.#scheduler.runJobs(async (name, environment, isKilled) => {
      const job = modelJobs[name]
      const sql = this.#installation.stack.database.in(environment)
      const carriedIn = await readCarriedIn(sql)
      const left =
        isKilled && name === 'usage-billing'
          ? await readUnfinishedCharges(sql)
          : noUnfinishedCharges
      const now = this.#installation.clock.now()
      for (const { model } of this.#people.filter((each) => each.environment === environment)) {
        Object.assign(model, { carriedIn, left })
        for (const purchase of model.purchases) job?.(purchase, now, model)
      }
    })
    await this.#scheduler.runPayments()
    await this.#recharge()
  }

  /** Runs automatic top-ups after the ledger contains all usage. */
  async #recharge(): Promise<void> {
    this.#require('in a round', await findWrongWallets(this.#installation, this.#people))
    const { kills } = this.#scheduler
    await this.#scheduler.runRecharges()
    await this.#scheduler.runPayments()
    for (const environment of environments) {
      const sql = this.#installation.stack.database.in(environment)
      const attempts = await readRecharges(sql)
      for (const person of this.#people.filter((each) => each.environment === environment)) {
        const made = attempts.get(person.reference) ?? []
        person.applyRecharges(made, this.#scheduler.kills > kills)
      }
    }
  }

  /** Checks the invariants at the end. */
  async #balance(): Promise<void> {
    this.#require('at the end', [
      ...(await findUnbalancedBooks(this.#installation)),
      ...(await findWrongCharges(this.#installation, this.#people)),
      ...(await findWrongBalances(this.#installation)),
      ...(await findWrongUsage(this.#people)),
      ...(await findUndeletedCustomers(this.#installation, this.#people)),
      ...(await verifyLedger(this.#installation)),
      ...(await findDifferences(this.#installation, new Date(this.#options.startsAt))),
    ])
  }

  #require(when: string, wrong: readonly string[]): void {
    if (wrong.length === 0) return
    throw new Error(`${this.#how()}, ${when}:\n${wrong.slice(0, 20).join('\n')}`)
  }

  /** Returns the options with which the run can be repeated. */
  #how(): string {
    const { seed, customers, actsPercent, killsPercent } = this.#options
    return `seed ${seed}, ${customers} customers, ${actsPercent}% acting, ${killsPercent}% killed`
  }

  #figures(): YearFigures {
    return {
      kills: this.#scheduler.kills,
      events: this.#comparison.eventsTotal,
      usageRecords: this.#people.reduce((total, { model }) => total + model.usage.length, 0),
      happened: { ...Object.fromEntries(this.#acts), ...countPurchases(this.#people) },
    }
  }
}

import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { listUnbalancedWallets } from '../src/money-ledger/ledger.ts'
import { removalOf, replay, type WalletEvent } from './wallet-line.ts'
import { WalletWorld } from './wallet-world.ts'

let testDatabase: Awaited<ReturnType<typeof startTestDatabase>>
let database: Database
let worlds = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

async function inWorld(act: (world: WalletWorld) => Promise<void>): Promise<void> {
  worlds += 1
  const world = await WalletWorld.open(database, worlds)
  try {
    await act(world)
  } finally {
    await world.close()
  }
}

/** Completes everything that is still in progress. */
async function settle(world: WalletWorld): Promise<void> {
  await world.publish()
  await world.count()
  await world.post()
  world.nowMs += 31_000
  await world.expire('nowhere')
}

const minute = 60_000

it('reports the whole balance with a grant, although earlier removals are not published yet', () =>
  inWorld(async (world) => {
    await world.grant(1_000, 0, undefined)
    await world.use(30)
    await world.adjust(-100, 'taken', 'before it publishes')
    await world.grant(50, 0, undefined)
    expect(world.reportedByGrant).toBe(1_000 - 30 - 100 + 50)
  }))

it('expires the remaining credits, and keeps used credits, posted or in flight', () =>
  inWorld(async (world) => {
    const expiring = await world.grant(100, 0, minute)
    await world.grant(50, 0, undefined)
    await world.use(20)
    await world.count()
    await world.post()
    await world.use(30)
    world.nowMs += minute
    await world.expire('nowhere')
    expect(await world.left()).toBe(50)
    expect((await world.ledger()).grants.get(expiring)).toBe(30)
    expect((await world.ledger()).breakage).toBe(50)
    await world.use(10)
    await settle(world)
    expect(await world.left()).toBe(40)
    expect((await world.ledger()).grants.get(expiring)).toBe(0)
    expect((await world.ledger()).balance).toBe(40)
  }))

it('expires a whole grant that is used after others', () =>
  inWorld(async (world) => {
    await world.grant(100, -1, undefined)
    const expiring = await world.grant(40, 0, minute)
    await world.use(30)
    world.nowMs += minute
    await world.expire('nowhere')
    expect(await world.left()).toBe(70)
    expect(await world.use(100)).toBe(70)
    await settle(world)
    const { balance, breakage, grants } = await world.ledger()
    expect([balance, breakage, grants.get(expiring)]).toEqual([0, 40, 0])
  }))

it('keeps usage with the grant that paid for it, even if the order has changed', () =>
  inWorld(async (world) => {
    const expiring = await world.grant(100, 0, minute)
    await world.use(60)
    const first = await world.grant(100, -5, undefined)
    world.nowMs += minute
    await world.expire('nowhere')
    expect(await world.left()).toBe(100)
    await settle(world)
    const { breakage, grants } = await world.ledger()
    expect([breakage, grants.get(expiring), grants.get(first)]).toEqual([40, 0, 100])
  }))

it('expires credits that are released because their usage was never recorded', () =>
  inWorld(async (world) => {
    await world.grant(100, 0, minute)
    await world.use(60, true)
    world.nowMs += minute
    await world.expire('nowhere')
    expect(await world.left()).toBe(0)
    // The holds are lost with the hot state, as if they had expired.
    await world.wipe()
    expect(await world.left()).toBe(60)
    world.nowMs += 31_000
    await world.expire('nowhere')
    expect(await world.left()).toBe(0)
    expect((await world.ledger()).breakage).toBe(100)
  }))

it('expires credits once that were held by a dead process, even if the grant is used up by then', () =>
  inWorld(async (world) => {
    await world.grant(40, 0, minute)
    const lasting = await world.grant(60, 0, undefined)
    world.nowMs += minute
    await world.expire('before the commit')
    expect(await world.left()).toBe(60)
    await world.use(50)
    await world.count()
    await world.post()
    expect(await world.left()).toBe(10)
    await settle(world)
    expect(await world.left()).toBe(10)
    const { balance, grants, breakage } = await world.ledger()
    expect([balance, grants.get(lasting), breakage]).toEqual([10, 10, 40])
  }))

it('expires held credits without using grants that come later in the order', () =>
  inWorld(async (world) => {
    const expiring = await world.grant(50, 0, minute)
    world.nowMs += minute
    await world.expire('before the commit')
    const second = await world.grant(1, 0, 1)
    world.nowMs += 31_000
    await world.expire('nowhere')
    expect(await world.left()).toBe(0)
    const { grants, breakage } = await world.ledger()
    expect([grants.get(expiring), grants.get(second), breakage]).toEqual([0, 0, 51])
  }))

it('expires held credits from their own grant, whatever was bought in the meantime', () =>
  inWorld(async (world) => {
    await world.grant(50, 0, 2 * minute)
    await world.grant(1, 0, 1)
    world.nowMs += minute
    await world.expire('before the commit')
    await world.use(1)
    const lasting = await world.grant(1, -1, undefined)
    world.nowMs += 31_000
    await world.expire('nowhere')
    await settle(world)
    world.nowMs += minute
    await world.expire('nowhere')
    expect(await world.left()).toBe(1)
    const { grants, breakage } = await world.ledger()
    expect([grants.get(lasting), breakage]).toEqual([1, 50])
  }))

it('does not check empty grants again', () =>
  inWorld(async (world) => {
    await world.grant(40, 0, minute)
    await world.use(40)
    await world.count()
    await world.post()
    world.nowMs += minute
    expect(await world.expire('nowhere')).toHaveLength(1)
    world.nowMs += minute
    expect(await world.expire('nowhere')).toEqual([])
  }))

it('adjusts once, however often it is tried and wherever the process dies', () =>
  inWorld(async (world) => {
    await world.grant(100, 0, undefined)
    await world.use(30)
    expect(await world.adjust(-71, 'too much', 'nowhere')).toBe('too-little')
    expect(await world.adjust(-50, 'a', 'before the commit')).toBe('died')
    expect(await world.left()).toBe(20)
    expect(await world.adjust(-50, 'a', 'before it publishes')).toBe('adjusted')
    expect(await world.left()).toBe(20)
    expect(await world.adjust(-50, 'a', 'nowhere')).toBe('adjusted')
    await world.publish()
    expect(await world.left()).toBe(20)
    expect(await world.adjust(-20, 'a', 'nowhere')).toBe('key-reused')
    expect(await world.adjust(-20, 'b', 'nowhere')).toBe('adjusted')
    expect(await world.left()).toBe(0)
    await settle(world)
    expect((await world.ledger()).balance).toBe(0)
  }))

const dies = fc.constantFrom('nowhere', 'before the commit', 'before it publishes')
const credits = fc.integer({ min: 1, max: 60 })
const step = fc.oneof(
  fc.record({
    do: fc.constant('grant'),
    credits,
    priority: fc.integer({ min: -1, max: 1 }),
    expiresInMs: fc.option(fc.integer({ min: 1, max: 4 * minute }), { nil: undefined }),
  }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('use'), credits }) },
  fc.record({ do: fc.constant('adjust'), credits: fc.integer({ min: -40, max: 20 }), dies }),
  fc.record({ do: fc.constant('count'), records: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('post'), records: fc.integer({ min: 1, max: 4 }) }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('expire'), dies, waitMs: fc.nat(2 * minute) }),
  },
  fc.record({ do: fc.constant('wipe') }),
)
type Dies = typeof dies extends fc.Arbitrary<infer Value> ? Value : never
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** The wallet and a model of it: the list of its events. */
class Checked {
  readonly #world: WalletWorld
  #events: WalletEvent[] = []
  /** Holds of processes that died before their commit, which only the hot state has. */
  #uncommitted = new Set<WalletEvent>()
  #keys = 0

  constructor(world: WalletWorld) {
    this.#world = world
  }

  async take(each: Step): Promise<void> {
    const world = this.#world
    switch (each.do) {
      case 'grant': {
        const { credits: given, priority, expiresInMs } = each
        this.#expired(await world.expireFirst(), 'nowhere')
        const reference = await world.grant(given, priority, expiresInMs)
        const expiresAtMs = expiresInMs === undefined ? Infinity : world.nowMs + expiresInMs
        const grant = { reference, credits: given, priority, expiresAtMs }
        this.#events.push({ kind: 'grant', grant })
        // No two grants have the same time. Otherwise their random references would decide the order.
        world.nowMs += 1
        return
      }
      case 'use': {
        const { credits: due } = each as { credits: number }
        const taken = await world.use(due)
        expect(taken).toBe(Math.min(due, this.now().total))
        this.#events.push({ kind: 'taken', credits: taken })
        return
      }
      case 'adjust':
        return await this.#adjust(each as { credits: number; dies: 'nowhere' })
      case 'count':
        return await world.count((each as { records: number }).records)
      case 'post':
        return await world.post((each as { records: number }).records)
      case 'expire': {
        const { dies: where, waitMs } = each as { dies: 'nowhere'; waitMs: number }
        world.nowMs += waitMs
        return await this.expire(where)
      }
      default:
        this.#events = this.#events.filter((event) => !this.#uncommitted.has(event))
        this.#uncommitted.clear()
        return await world.wipe()
    }
  }

  async #adjust({ credits: change, dies: where }: { credits: number; dies: 'nowhere' }) {
    if (change === 0) return
    this.#keys += 1
    this.#expired(await this.#world.expireFirst(), 'nowhere')
    const before = this.now().total
    const outcome = await this.#world.adjust(change, `key ${this.#keys}`, where)
    if (change < 0) {
      if (-change > before) return
      this.#events.push({ kind: 'removed', from: removalOf(this.#events, -change) })
      if (outcome === 'died') {
        // The caller tries again.
        expect(await this.#world.adjust(change, `key ${this.#keys}`, 'nowhere')).toBe('adjusted')
      } else expect(outcome).toBe('adjusted')
      return
    }
    if (outcome === 'died') return
    await this.#world.publish()
    const reference = `adjustment ${this.#keys}`
    const grant = { reference, credits: change, priority: 0, expiresAtMs: Infinity }
    this.#events.push({ kind: 'grant', grant })
    this.#world.nowMs += 1
  }

  async expire(where: Dies): Promise<void> {
    this.#expired(await this.#world.expire(where), where)
  }

  #expired(references: readonly string[], where: Dies): void {
    for (const reference of references) {
      const known = this.#events.find((event) => {
        return event.kind === 'expired' && event.reference === reference
      })
      const event = known ?? ({ kind: 'expired', reference } as const)
      if (known === undefined) this.#events.push(event)
      if (where === 'before the commit') {
        if (known === undefined) this.#uncommitted.add(event)
      } else this.#uncommitted.delete(event)
    }
  }

  now() {
    return replay(this.#events)
  }
}

it('matches a model in total and for each grant', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await inWorld(async (world) => {
        const checked = new Checked(world)
        await checked.take({ do: 'grant', credits: 50, priority: 0, expiresInMs: 2 * minute })
        for (const each of steps) {
          await checked.take(each)
          expect(await world.left()).toBe(checked.now().total)
        }
        await world.publish()
        await world.count()
        await world.post()
        world.nowMs += 31_000
        await checked.expire('nowhere')
        const { total, left, breakage } = checked.now()
        const ledger = await world.ledger()
        expect([await world.left(), ledger.balance]).toEqual([total, total])
        expect(ledger.breakage).toBe(breakage)
        for (const [reference, credit] of left) {
          if (ledger.grants.has(reference)) expect(ledger.grants.get(reference)).toBe(credit)
        }
        expect(await listUnbalancedWallets(database.in('sandbox'), 10)).toEqual([])
      })
    }),
    { ...randomRuns(40), interruptAfterTimeLimit: 120_000 },
  )
}, 180_000)

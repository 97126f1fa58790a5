import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CountingWindow } from '../src/entitlements/counting-windows.ts'
import { chunksReadMax } from '../src/entitlements/shared-tail.ts'
import { SharedTails } from '../src/entitlements/shared-tails.ts'
import { chunkRecordsMax, TailChunk, type Series } from '../src/entitlements/tail-chunk.ts'
import { TailSums } from '../src/entitlements/tail-sums.ts'
import { encoded, usageEvent } from './usage-event.ts'
import { UsageStores } from './usage-stores.ts'

const topic = usageTopic('sandbox')
const place = { space: 'sandbox', partition: 0 }
const limits = { bytesMax: 134_217_728, foldsMax: 4, waitMs: 30_000 }

let stores: UsageStores

beforeEach(async () => {
  stores = await UsageStores.open()
})
afterEach(() => stores.close())

async function append(events: readonly MeterEvent[]): Promise<void> {
  const records = events.map((event) => ({ partition: 0, value: encoded(event) }))
  await stores.log.appendAll(topic, records, 0)
}

function randomEvent(random: SeededRandom, seconds: number): MeterEvent {
  const key = random.chance(0.6) ? random.below(2_000) : undefined
  return usageEvent({
    ...(key === undefined ? {} : { id: `usage_${key}`, idempotencyKey: `key-${key}` }),
    customerRef: `customer-${random.below(3)}`,
    meterName: random.pick(['requests', 'tokens']),
    value: random.pick([1, -5, 1_000_000, 9_000_000_000_000_000, random.below(1_000_000)]),
    timestamp: random.below(seconds) * 1_000 + random.below(1_000),
    productRef: random.pick(['prd_A', 'prd_B', null]),
    outcome: random.chance(0.9) ? 'success' : 'fail',
    ...(random.chance(0.3) && countsOn(random)),
  })
}

/** Counts of an event on further meters. A third of the events name no meter themselves. */
function countsOn(random: SeededRandom): Partial<MeterEvent> {
  const counts = ['seats', 'calls', 'images']
    .filter(() => random.chance(0.6))
    .map((meterName) => ({ meterName, value: random.below(1_000_000), text: null }))
  return random.chance(0.33) ? { meterName: '', value: 0, counts } : { counts }
}

function randomWindows(random: SeededRandom, seconds: number): CountingWindow[] {
  const edges = Array.from({ length: 1 + random.below(6) }, () => random.below(seconds + 10))
  const ascending = [...new Set(edges)].sort((one, other) => one - other)
  return ascending.slice(1).flatMap((toSecond, index) => {
    // Some windows leave a gap before the next one.
    if (random.chance(0.2)) return []
    return [{ id: `window-${index}`, fromSecond: ascending[index]!, toSecond }]
  })
}

/** Returns the expected sums: each key counts at its first record in the log. */
function expectedSums(
  events: readonly MeterEvent[],
  { fence, head }: { readonly fence: number; readonly head: number },
  series: readonly Series[],
  windows: readonly CountingWindow[],
): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  const used = new Set<string>()
  for (const [offset, event] of events.slice(0, head).entries()) {
    const isRepeated = event.idempotencyKey !== null && used.has(event.id)
    used.add(event.id)
    if (isRepeated || offset < fence || event.outcome !== 'success') continue
    const meterNames = series
      .filter(
        ({ subject, scope }) =>
          subject === subjectKey(event.providerId, event.customerRef) &&
          scope === (event.productRef ?? ''),
      )
      .map(({ meterName }) => meterName)
    const { meterName, value, counts } = event
    const asked = [{ meterName, value }, ...counts].filter((each) =>
      meterNames.includes(each.meterName),
    )
    const second = Math.floor(event.timestamp / 1_000)
    const window = windows.find((each) => each.fromSecond <= second && second < each.toSecond)
    if (asked.length === 0 || window === undefined) continue
    const sum = asked.reduce((total, each) => total + BigInt(each.value), 0n)
    sums.set(window.id, (sums.get(window.id) ?? 0n) + sum)
  }
  return sums
}

/** Moves the counters' fence and stores marks for the keys before it. */
async function moveFence(events: readonly MeterEvent[], from: number, to: number): Promise<void> {
  const marks = events.slice(from, to).flatMap(({ id, idempotencyKey }, index) => {
    return idempotencyKey === null ? [] : [{ id, offset: from + index, receivedAtMs: Date.now() }]
  })
  await stores.hotState.apply({
    ...place,
    expectedOffset: from,
    nextOffset: to,
    marks,
    increments: [],
  })
}

function randomQuery(random: SeededRandom, seconds: number) {
  const subject = subjectKey('prv_A', `customer-${random.below(3)}`)
  const meterName = random.pick(['requests', 'tokens', 'seats'])
  const scopes = random.pick([['prd_A', ''], ['prd_B', ''], ['']])
  return {
    series: scopes.map((scope) => ({ subject, scope, meterName })),
    windows: randomWindows(random, seconds),
  }
}

describe('the folded tail compared with a model', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'sums the same as the model for any fence (seed %i)',
    async (seed) => {
      const random = new SeededRandom(seed)
      const seconds = random.pick([5, 300, 100_000])
      const tails = new SharedTails(stores, limits)
      const events: MeterEvent[] = []
      const queries = Array.from({ length: 6 }, () => randomQuery(random, seconds))
      let fence = 0
      for (let step = 0; step < 12; step += 1) {
        const count = random.pick([1, 10, 700, 1_500])
        const more = Array.from({ length: count }, () => randomEvent(random, seconds))
        await append(more)
        events.push(...more)
        if (random.chance(0.5)) {
          const to = Math.min(events.length - 1, fence + random.below(1_800))
          await moveFence(events, fence, to)
          fence = to
        }
        const head = events.length
        const asked = [...queries, randomQuery(random, seconds)]
        const answers = await Promise.all(
          asked.map(async (query) => tails.read(place, topic, { fence, head, ...query })),
        )
        const model = asked.map(({ series, windows }) => ({
          kind: 'summed',
          amounts: expectedSums(events, { fence, head }, series, windows),
        }))
        expect(answers).toEqual(model)
      }
    },
  )

  it('sums for many callers in several turns, each with a bounded number of chunks', async () => {
    const chunks = 20
    const events = Array.from({ length: chunks * chunkRecordsMax }, (_, index) =>
      usageEvent({ customerRef: `customer-${index % 300}`, timestamp: index * 1_000 }),
    )
    await append(events)
    const tails = new SharedTails(stores, limits)
    let turn = 0
    const next = (): void => {
      turn += 1
      if (!isOver) setImmediate(next)
    }
    let isOver = false
    next()
    const answeredIn = await Promise.all(
      Array.from({ length: 300 }, async (_, caller) => {
        const subject = subjectKey('prv_A', `customer-${caller}`)
        const series = [{ subject, scope: 'prd_A', meterName: 'requests' }]
        const windows = [{ id: 'all', fromSecond: 0, toSecond: events.length }]
        const query = { fence: 0, head: events.length, series, windows }
        const answer = await tails.read(place, topic, query)
        const model = expectedSums(events, query, series, windows)
        expect(answer).toEqual({ kind: 'summed', amounts: model })
        return turn
      }),
    )
    isOver = true
    const perTurn = new Map<number, number>()
    for (const each of answeredIn) perTurn.set(each, (perTurn.get(each) ?? 0) + 1)
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(chunksReadMax / chunks + 1)
  })

  it('reads closed chunks once for the same series and windows', () => {
    const chunks = Array.from({ length: 50 }, (_, at) => new TailChunk(at * chunkRecordsMax))
    const series = { subject: 'subject', scope: '', meterName: 'requests' }
    for (const [at, chunk] of chunks.entries()) {
      for (let row = 0; row < chunkRecordsMax; row += 1) {
        chunk.add(series, at * chunkRecordsMax + row, 1)
      }
      if (at < chunks.length - 1) chunk.close()
    }
    const sums = new TailSums()
    const windows = [{ id: 'late', fromSecond: 10, toSecond: 1_000_000 }]
    const amounts = new Map([['late', BigInt(50 * chunkRecordsMax - 10)]])
    expect(sums.sum(chunks, [series], windows)).toEqual({ amounts, chunksRead: 50 })
    expect(sums.sum(chunks, [series], windows)).toEqual({ amounts, chunksRead: 1 })
    const shorter = chunks.slice(1)
    expect(sums.sum(shorter, [series], windows)).toEqual({
      amounts: new Map([['late', BigInt(49 * chunkRecordsMax)]]),
      chunksRead: 49,
    })
  })
})

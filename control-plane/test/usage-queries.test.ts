import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MeterUsageResponse } from '@tollgate/schemas/http/meters'
import { aggregations, type Aggregation } from '@tollgate/schemas/meter-reading'
import { groupsOfModel, sumOfModel, type ModelRecord } from './usage-query-model.ts'
import { csvRows, dayMs, range, start, UsageQueryWorld } from './usage-query-world.ts'

/* Groups, buckets and the largest groups of usage queries, in JSON and CSV, against a model, for every aggregation. */

let world: UsageQueryWorld

beforeAll(async () => {
  world = await UsageQueryWorld.start()
})
afterAll(() => world.stop())

const arbitraryRecord = fc.record({
  // Few different times, so that records share them, and the ends of buckets and of the range.
  atMs: fc.oneof(
    fc.constantFrom(start, start + dayMs - 1, start + dayMs, start + 3 * dayMs - 1),
    fc.integer({ min: 0, max: 40 }).map((step) => start + step * 7_200_000),
  ),
  receivedMs: fc.integer({ min: 0, max: 3 }).map((second) => start + second * 1_000),
  micros: fc.integer({ min: -5_000_000, max: 5_000_000 }),
  text: fc.constantFrom('ada', 'eve', 'zoe', "o'x"),
  dimensions: fc.record(
    {
      model: fc.constantFrom('large', 'small', 'a "quoted", one', ''),
      region: fc.constantFrom('eu', 'us'),
      tier: fc.constantFrom('1', 'true'),
    },
    { requiredKeys: [] },
  ),
})

const arbitraryQuery = fc.record({
  groupBy: fc.subarray(['model', 'region', 'tier'], { minLength: 1 }),
  top: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  granularity: fc.option(fc.constantFrom('day', 'week', 'month'), { nil: undefined }),
  model: fc.option(fc.subarray(['large', 'a "quoted", one', ''], { minLength: 1 }), {
    nil: undefined,
  }),
})

/** Returns the time at which each bucket of the range starts. */
function bucketStarts(granularity: string): number[] {
  // 2 March 2026 was a Monday.
  if (granularity === 'week') return [start, start + dayMs]
  return granularity === 'month' ? [start] : [start, start + dayMs, start + 2 * dayMs]
}

type Question = typeof arbitraryQuery extends fc.Arbitrary<infer Query> ? Query : never

/** Returns the answer that the model gives. */
function expectedOf(aggregation: Aggregation, all: readonly ModelRecord[], question: Question) {
  const { groupBy, top, granularity, model } = question
  const records = all.filter(
    ({ atMs, dimensions }) =>
      atMs < start + 3 * dayMs && (model?.includes(dimensions['model'] ?? '') ?? true),
  )
  const bodyOf = (members: readonly ModelRecord[]) => ({
    ...sumOfModel(aggregation, members),
    ...(granularity !== undefined && {
      buckets: bucketStarts(granularity).map((from, index, starts) => {
        const to = starts[index + 1] ?? start + 3 * dayMs
        return {
          start: new Date(from).toISOString(),
          end: new Date(to).toISOString(),
          ...sumOfModel(
            aggregation,
            members.filter(({ atMs }) => atMs >= from && atMs < to),
          ),
        }
      }),
    }),
  })
  const byValues = groupsOfModel(records, groupBy).sort((a, b) => compare(a.values, b.values))
  const ordered =
    top === undefined
      ? byValues
      : [...byValues].sort(
          (a, b) =>
            sumOfModel(aggregation, b.records).value - sumOfModel(aggregation, a.records).value,
        )
  const named = ordered.slice(0, top)
  const rest = ordered.slice(named.length)
  const { value: total, count } = sumOfModel(aggregation, records)
  return {
    total,
    count,
    groups: named.map(({ values, records: members }) => ({
      dimensions: Object.fromEntries(groupBy.map((name, index) => [name, values[index]])),
      ...bodyOf(members),
    })),
    ...(rest.length > 0 && {
      other: { groups: rest.length, ...bodyOf(rest.flatMap(({ records: members }) => members)) },
    }),
  }
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, value] of a.entries()) {
    if (value !== b[index]) return value < b[index]! ? -1 : 1
  }
  return 0
}

/**
 * Takes every sixth record away, and doubles every tenth. Returns the records as queries see them: sums have the records of corrections
 * beside the others.
 */
async function correctSome(
  aggregation: Aggregation,
  meterName: string,
  stored: readonly ModelRecord[],
): Promise<ModelRecord[]> {
  const corrections = stored.flatMap((record, index) => {
    const { id, micros } = record
    if (micros === 0 || (index % 6 !== 0 && index % 10 !== 0)) return []
    const difference = index % 6 === 0 ? -micros : micros
    const receivedMs = record.receivedMs + 3_600_000
    return [{ ...record, id: `${id}-corrected`, micros: difference, receivedMs, corrects: id }]
  })
  await world.store(meterName, corrections)
  if (aggregation === 'sum' || aggregation === 'count') return [...stored, ...corrections]
  return stored.flatMap((record) => {
    const correction = corrections.find(({ corrects }) => corrects === record.id)
    if (correction === undefined) return [record]
    const micros = record.micros + correction.micros
    return micros === 0 ? [] : [{ ...record, micros }]
  })
}

describe.each(aggregations)('usage by %s', (aggregation) => {
  test('is grouped, filtered and bucketed like a list of records', { retry: 0 }, async () => {
    const meter = await world.createMeter({
      name: `random ${aggregation}`,
      aggregation,
      event: { type: 'u' },
      dimensions: ['model', 'region', 'tier'],
      ...(aggregation === 'unique' && { value: '/user' }),
    })
    const [drawn] = fc.sample(fc.array(arbitraryRecord, { minLength: 60, maxLength: 60 }), 1)
    const stored = drawn!.map((record, index) => ({ ...record, id: `${aggregation}${index}` }))
    await world.store(meter.name, stored)
    // Repeated rows count once.
    await world.store(meter.name, stored.slice(0, 5))
    const records = await correctSome(aggregation, meter.name, stored)
    await fc.assert(
      fc.asyncProperty(arbitraryQuery, async (question) => {
        const { groupBy, top, granularity, model } = question
        const query = {
          ...range,
          groupBy,
          ...(top !== undefined && { top: String(top) }),
          ...(granularity !== undefined && { granularity }),
          ...(model !== undefined && { filter: JSON.stringify({ model }) }),
        }
        const path = `/v1/ui/meters/${meter.reference}/usage`
        const { body } = await world.get<MeterUsageResponse>(path, query)
        expect(body).toMatchObject(expectedOf(aggregation, records, question))
        expect(body.groups!.length).toBe(expectedOf(aggregation, records, question).groups.length)

        const csv = await (await world.file(meter, { ...query, format: 'csv' })).text()
        expect(csvRows(csv)).toEqual(rowsOfBody(body, groupBy, top !== undefined))
      }),
      { numRuns: 12 },
    )
  })
})

/** Returns the rows that a file has for an answer in JSON: one for each group or bucket with records. */
function rowsOfBody(body: MeterUsageResponse, groupBy: readonly string[], hasTop: boolean) {
  const rows: string[] = []
  const add = (
    values: readonly string[],
    isOther: boolean,
    group: Pick<NonNullable<MeterUsageResponse['groups']>[number], 'value' | 'count' | 'buckets'>,
  ): void => {
    const cells = values.map((value) => `"${value.replaceAll('"', '""')}"`)
    for (const part of group.buckets ?? [{ start: undefined, ...group }]) {
      if (part.count === 0) continue
      const from = part.start === undefined ? [] : [`"${part.start}"`]
      const other = hasTop ? [String(isOther)] : []
      rows.push([...from, ...cells, ...other, String(part.value), String(part.count)].join(','))
    }
  }
  for (const group of body.groups!) {
    add(
      groupBy.map((name) => group.dimensions[name]!),
      false,
      group,
    )
  }
  if (body.other !== undefined)
    add(
      groupBy.map(() => ''),
      true,
      body.other,
    )
  return rows.sort()
}

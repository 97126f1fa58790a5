import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MeterBody, MeterUsageResponse } from '@tollgate/schemas/http/meters'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { recount } from '../src/recount/run-recount.ts'
import { startStack, type Stack } from './stack.ts'

/*
 * `tollgate recount --dry-run`: what the current version of a meter would have counted. Another meter that had this definition from
 * the beginning counts the same events, and is the model.
 */

let stack: Stack
let client: TollgateClient
let providerId: string

beforeAll(async () => {
  stack = await startStack()
  client = (await stack.createProvider()).sandbox
  const [row] = await stack.database.control<
    { id: string }[]
  >`select provider_id as id from providers limit 1`
  providerId = row!.id
})
afterAll(() => stack.stop())

async function createMeter(fields: object): Promise<MeterBody> {
  return (await client.require('POST', '/v1/ui/meters', fields)) as MeterBody
}

type Recounted = {
  readonly version: number
  readonly records: number
  readonly changes: readonly {
    readonly customerRef: string
    readonly changed: number
    readonly refused: number
    readonly before: string | null
    readonly after: string | null
    readonly isBilled: boolean
  }[]
}

async function dryRun(meter: string): Promise<Recounted> {
  const { database, usageStore: store } = stack
  const now = Date.now()
  const [from, to] = [-86_400_000, 86_400_000].map((ms) => new Date(now + ms)) as [Date, Date]
  const options = { provider: providerId, environment: 'sandbox', meter, from, to } as const
  return (await recount({ database, store, note: () => {} }, options)).json as Recounted
}

async function usageOf({ reference }: MeterBody, customerRef: string): Promise<number> {
  const query = { from: '2020-01-01', to: '2100-01-01', customerRef }
  const path = `/v1/ui/meters/${reference}/usage?${new URLSearchParams(query).toString()}`
  return ((await client.require('GET', path, undefined)) as MeterUsageResponse).total
}

const customers = ['ada', 'eve', 'zoe']

const arbitraryEvent = fc.record({
  subject: fc.constantFrom(...customers),
  type: fc.constantFrom('llm.call', 'image'),
  data: fc.record(
    {
      input: fc.integer({ min: 0, max: 1_000 }),
      output: fc.integer({ min: 0, max: 1_000 }),
      tier: fc.constantFrom('free', 'paid'),
    },
    { requiredKeys: [] },
  ),
})

test('shows what the current version counts, like a meter that always had it', async () => {
  const old = { event: { type: 'llm.call' }, value: '/input' }
  const current = {
    event: { type: 'llm.call', where: { tier: ['paid'] } },
    value: ['/input', '/output'],
  }
  const meter = await createMeter({ name: 'changed', ...old })
  const model = await createMeter({ name: 'model', ...current })
  const [events] = fc.sample(fc.array(arbitraryEvent, { minLength: 120, maxLength: 120 }), 1)
  await client.require(
    'POST',
    '/v1/events/batch',
    events!.map((event, index) => ({
      specversion: '1.0',
      id: `e${index}`,
      source: '/t',
      ...event,
    })),
  )
  const before = await Promise.all(customers.map((customer) => usageOf(meter, customer)))
  expect((await dryRun('changed')).changes).toEqual([])

  await client.require('PATCH', `/v1/ui/meters/${meter.reference}`, current)
  const { version, changes } = await dryRun('changed')
  expect(version).toBe(2)
  const after = await Promise.all(customers.map((customer) => usageOf(model, customer)))
  const shown = customers.map((customer) => {
    const found = changes.filter(({ customerRef }) => customerRef === customer)
    const sumOf = (field: 'before' | 'after'): number =>
      found.reduce((sum, change) => sum + Number(change[field]), 0)
    return found.length === 0 ? undefined : [sumOf('before'), sumOf('after')]
  })
  expect(shown).toEqual(customers.map((_, index) => [before[index], after[index]]))
  expect(changes.every(({ isBilled, refused }) => !isBilled && refused === 0)).toBe(true)
  // Nothing was changed.
  expect(await Promise.all(customers.map((customer) => usageOf(meter, customer)))).toEqual(before)
})

test('reads calls and meter events by the meter that they name, and shows what it refuses', async () => {
  const calls = await createMeter({ name: 'paths', aggregation: 'count', event: { type: 'none' } })
  const usage = { customerRef: 'cli', metadata: { size: 'x' } }
  await client.require('POST', '/v1/sdk/usages', usage)
  await client.require('POST', '/v1/sdk/usages', { ...usage, metadata: { size: 5 } })
  await client.require('POST', '/v1/sdk/usages', { ...usage, units: 0 })
  await usageOf(calls, 'cli')
  const path = `/v1/ui/meters/${calls.reference}`
  await client.require('PATCH', path, { event: { type: 'requests' } })
  expect((await dryRun('paths')).changes).toMatchObject([
    { customerRef: 'cli', changed: 2, refused: 0, before: '0', after: '2' },
  ])
  const sizes = await createMeter({
    name: 'sizes',
    event: { type: 'none' },
    value: '/metadata/size',
  })
  await client.require('PATCH', `/v1/ui/meters/${sizes.reference}`, { event: { type: 'requests' } })
  expect((await dryRun('sizes')).changes).toMatchObject([
    { customerRef: 'cli', changed: 1, refused: 1, before: '0', after: '5' },
  ])
})

test('refuses a meter that counts calls, and an unknown one', async () => {
  await expect(dryRun('requests')).rejects.toThrow('counts the calls that name it')
  await expect(dryRun('none')).rejects.toThrow(`has no meter none in sandbox`)
})

import { afterAll, expect, test } from 'vitest'
import { createManualClock } from './manual-clock.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack } from './stack.ts'

const clock = createManualClock('2027-01-31T10:00:00.000Z')

const stack = await startStack({ clock })
const client = (await stack.createProvider()).sandbox

afterAll(() => stack.stop())

test('ends a month that began on the 31st on 28 February, to the millisecond', async () => {
  clock.set('2027-01-31T10:00:00.000Z')
  const productRef = await createCappedProduct(client, 100)
  const customerRef = await createCustomer(client)
  const remaining = async (): Promise<number> =>
    (await client.checkLimit(customerRef, productRef)).remaining
  const record = (units: number, timestamp: string): Promise<unknown> =>
    client.recordUsage({ customerRef, productRef, units, timestamp })
  expect(await remaining()).toBe(100)

  clock.set('2027-02-28T09:59:59.999Z')
  await record(1, '2027-02-28T09:59:59.999Z')
  // The record has the first instant of the next period, from a clock that is ahead, so it does not count in this period.
  await record(10, '2027-02-28T10:00:00.000Z')
  expect(await remaining()).toBe(99)

  clock.set('2027-02-28T10:00:00.000Z')
  expect(await remaining()).toBe(90)
  // A late record for the ended period does not change the current one.
  await record(20, '2027-02-28T09:59:59.999Z')
  expect(await remaining()).toBe(90)

  // The period starts on the 31st again in months that have one.
  clock.set('2027-03-31T09:59:59.999Z')
  expect(await remaining()).toBe(90)
  clock.set('2027-03-31T10:00:00.000Z')
  expect(await remaining()).toBe(100)
})

test('counts a record stamped up to 5 minutes before the first period, but not an older one', async () => {
  clock.set('2027-05-10T12:00:00.000Z')
  const productRef = await createCappedProduct(client, 100)
  const customerRef = await createCustomer(client)
  await client.checkLimit(customerRef, productRef)
  const record = (units: number, timestamp: string): Promise<unknown> =>
    client.recordUsage({ customerRef, productRef, units, timestamp })
  await record(1, '2027-05-10T11:55:00.000Z')
  await record(10, '2027-05-10T11:54:59.999Z')
  expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(99)
})

test('divides usage queries at the same instants', async () => {
  clock.set('2027-06-15T00:00:00.000Z')
  const productRef = await createCappedProduct(client, 100)
  const customerRef = await createCustomer(client)
  const meterRef = await client.requestsMeter()
  for (const timestamp of [
    '2027-06-13T23:59:59.999Z',
    '2027-06-14T00:00:00.000Z',
    '2027-06-14T23:59:59.999Z',
    '2027-06-15T00:00:00.000Z',
  ]) {
    await client.recordUsage({ customerRef, productRef, timestamp })
  }
  const usage = await client.meterUsage(meterRef, {
    from: '2027-06-14T00:00:00.000Z',
    to: '2027-06-15T00:00:00.000Z',
    customerRef,
  })
  expect(usage).toMatchObject({ total: 2, count: 2 })
})

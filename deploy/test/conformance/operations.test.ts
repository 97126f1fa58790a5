import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogRows } from './catalog-rows.ts'
import { customerRows } from './customer-rows.ts'
import { purchaseRows } from './purchase-rows.ts'
import { usageRows } from './usage-rows.ts'
import { webhookRows } from './webhook-rows.ts'
import { startWorld, type World } from './world.ts'

/* The operations of the API, each through the public address: what it answers, and with what it refuses. */

/** One after the other in the same world. */
const rows = [...customerRows, ...catalogRows, ...purchaseRows, ...usageRows, ...webhookRows]

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stack.stop())

const titled = rows.map(([row, body, status, answer]) => {
  const title = `${row} ${body === undefined ? '' : JSON.stringify(body)}: ${status}`
  return { title, row, body, status, answer }
})

test.each(titled)('$title', async ({ row, body, status, answer }) => {
  const given = await world.call(row, body)
  expect({ status: given.status, body: given.body }).toMatchObject({
    status,
    body: world.filled(answer),
  })
})

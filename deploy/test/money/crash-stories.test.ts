import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyStory } from './story.ts'
import { tellStory } from './tell-story.ts'
import { openStores, type Stores } from './stores.ts'

/*
 * Customers buy, pay, are refunded and run out of credits while the processes that see to it die between any two effects
 * and the processor answers with faults, late, or not at all. However that goes: everybody is charged once for what was
 * given to them once, and it is told once.
 */

const storiesMax = Number(process.env['TOLLGATE_TEST_MONEY_STORIES'] ?? 12)

let stores: Stores

beforeAll(async () => {
  stores = await openStores()
})
afterAll(() => stores.stop())

test('whatever is done and whoever dies of it, it is charged, given and told once', async () => {
  let deaths = 0
  const property = fc.asyncProperty(anyStory, async (story) => {
    deaths += (await tellStory(stores, story)).deaths
  })
  await fc.assert(property, { numRuns: storiesMax })
  expect(deaths).toBeGreaterThan(0)
}, 3_600_000)

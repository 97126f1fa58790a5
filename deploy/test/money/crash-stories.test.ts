import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type Stores } from './stores.ts'
import { anyStory } from './story.ts'
import { tellStory } from './tell-story.ts'

/*
 * Customers buy, pay, are refunded and run out of credits while the processes that see to it die between any two effects
 * and the processor answers with faults, late, or not at all. However that goes: everybody is charged once for what was
 * given to them once, and it is told once.
 */

const asked = process.env['TOLLGATE_TEST_MONEY_STORIES']
const storiesMax = Number(asked ?? 12)

/** The same ones every time, where no number is asked for: new ones are drawn by those who wait for what they find. */
const drawn = asked === undefined ? { seed: 34 } : {}

/** After that a story that fails is told as small as it was made by then. */
const shrunkMs = 400_000

/** A test may take some minutes at most. */
const storiesPerTest = 25

let stores: Stores

beforeAll(async () => {
  stores = await openStores()
})
afterAll(() => stores.stop())

const batches = Array.from({ length: Math.ceil(storiesMax / storiesPerTest) }, (_, index) => ({
  from: index * storiesPerTest + 1,
  upTo: Math.min((index + 1) * storiesPerTest, storiesMax),
}))

test.each(batches)(
  'stories $from to $upTo: whoever dies, it is charged, given and told once',
  { timeout: 600_000 },
  async ({ from, upTo }) => {
    let deaths = 0
    const property = fc.asyncProperty(anyStory, async (story) => {
      deaths += (await tellStory(stores, story)).deaths
    })
    const limit = { interruptAfterTimeLimit: shrunkMs, markInterruptAsFailure: true }
    await fc.assert(property, { ...drawn, ...limit, numRuns: upTo - from + 1 })
    expect(deaths).toBeGreaterThan(0)
    if (storiesMax > storiesPerTest) console.log(`${upTo} stories, ${deaths} deaths in the last`)
  },
)

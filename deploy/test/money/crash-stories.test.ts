import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { happenings, type Happening } from './happenings.ts'
import { Lanes } from './lanes.ts'
import type { Stores } from './stores.ts'
import { anyStory } from './story.ts'
import { tellStory } from './tell-story.ts'

/*
 * Customers buy, pay, use, change their plans, are billed and paid back while the processes that see to it die between any
 * two effects and the processor answers with faults, late, or not at all. However that goes: everybody is charged once for
 * what was given to them once, and it is told once.
 */

const asked = process.env['TOLLGATE_TEST_MONEY_STORIES']
const storiesMax = Number(asked ?? 12)

/** The same ones every time, where no number is asked for: new ones are drawn by those who wait for what they find. */
const drawn = asked === undefined ? { seed: 34 } : {}

/** After that a story that fails is told as small as it was made by then. */
const shrunkMs = 400_000

/** A test may take some minutes at most. */
const storiesPerTest = 25

/** In so many each thing happens. */
const enough = 500

let lanes: Lanes

beforeAll(async () => {
  lanes = await Lanes.open(asked === undefined ? 1 : 4)
})
afterAll(() => lanes.stop())

/** Over all stories. */
const counts = new Map<Happening | 'story' | 'death', number>()

function count(name: Happening | 'story' | 'death', more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more)
}

const batches = Array.from({ length: Math.ceil(storiesMax / storiesPerTest) }, (_, index) => ({
  from: index * storiesPerTest + 1,
  upTo: Math.min((index + 1) * storiesPerTest, storiesMax),
}))

test.concurrent.each(batches)(
  'stories $from to $upTo: whoever dies, it is charged, given and told once',
  { timeout: 3_600_000 },
  async ({ from, upTo }) => {
    const property = async (stores: Stores): Promise<void> => {
      let isTold = false
      const all = fc.asyncProperty(anyStory, async (story) => {
        try {
          const { deaths, happened } = await tellStory(stores, story)
          count('story', 1)
          count('death', deaths)
          for (const name of happenings) count(name, happened[name])
        } catch (error) {
          // It is made smaller next, which takes its time.
          if (!isTold) console.error(error, fc.stringify(story))
          isTold = true
          throw error
        }
      })
      const limit = {
        interruptAfterTimeLimit: shrunkMs,
        markInterruptAsFailure: true,
      }
      await fc.assert(all, { ...drawn, ...limit, numRuns: upTo - from + 1 })
    }
    await lanes.run(property)
    if (storiesMax > storiesPerTest) console.log(`${counts.get('story')} stories`)
  },
)

test('there were deaths, and of a thousand stories something of everything', () => {
  if (asked !== undefined) console.log(Object.fromEntries(counts))
  expect(counts.get('death')).toBeGreaterThan(0)
  const missing = happenings.filter((name) => (counts.get(name) ?? 0) === 0)
  if (storiesMax >= enough) expect(missing).toEqual([])
})

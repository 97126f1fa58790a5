import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { happenings, type Happening } from './happenings.ts'
import { Lanes } from './lanes.ts'
import type { Stores } from './stores.ts'
import { configuredSeed, RunProgress } from '../run-progress.ts'
import { anyStory } from './story.ts'
import { runStory } from './run-story.ts'

/*
 * Customers buy, pay, use, change plans, are billed and refunded, while the processes die between any two effects and the processor
 * answers with faults, late or not at all. In every story, each customer is charged once for what was delivered once, and each
 * event is emitted once.
 */

const asked = process.env['TOLLGATE_TEST_MONEY_STORIES']
const storiesMax = Number(asked ?? 12)

const progress = RunProgress.open('stories', asked)

/** The stories are the same in each run, unless a number of stories is set. */
const firstSeed = progress?.firstSeed ?? configuredSeed ?? 34

/** Milliseconds after its first failure at which a failing story is reported as far as it has been shrunk. */
const shrunkMs = 400_000

/** Number of stories per test, so that a test takes at most some minutes. */
const storiesPerTest = 25

/** Number of stories in which each happening must occur at least once. */
const enough = 500

let lanes: Lanes

beforeAll(async () => {
  lanes = await Lanes.open(asked === undefined ? 1 : 4)
})
afterAll(() => lanes.stop())

/** Counts over all stories. */
const counts = new Map<Happening | 'story' | 'crash', number>()

function count(name: Happening | 'story' | 'crash', more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more)
}

const batches = Array.from({ length: Math.ceil(storiesMax / storiesPerTest) }, (_, index) => ({
  from: index * storiesPerTest + 1,
  upTo: Math.min((index + 1) * storiesPerTest, storiesMax),
}))

test.concurrent.each(batches)(
  'charges, grants and reports once in stories $from to $upTo, whatever process dies',
  { timeout: 3_600_000 },
  async ({ from, upTo }) => {
    const seed = firstSeed + from - 1
    const numRuns = upTo - from + 1
    if (progress?.hasPassed(seed, numRuns) === true) return
    const property = async (stores: Stores): Promise<void> => {
      let shrunkAt: number | undefined
      const all = fc.asyncProperty(anyStory, async (story) => {
        // Shrinking ends when no smaller story fails. A time limit of fast-check would leave a story playing, and the next story
        // would find its work on the same stores, but not at its own processor.
        if (shrunkAt !== undefined && Date.now() >= shrunkAt) return
        try {
          const { crashes, happened } = await runStory(stores, story)
          count('story', 1)
          count('crash', crashes)
          for (const name of happenings) count(name, happened[name])
        } catch (error) {
          // The story is shrunk next, which takes long, so the error is printed now.
          if (shrunkAt === undefined) console.error(error, fc.stringify(story))
          shrunkAt ??= Date.now() + shrunkMs
          throw error
        }
      })
      await fc.assert(all, { seed, numRuns })
    }
    await lanes.run(property)
    progress?.end(seed, numRuns, true)
  },
)

test('had crashes, and every kind of event in 1,000 stories', () => {
  if (asked !== undefined) console.log(Object.fromEntries(counts))
  // A run that only continues another one may have nothing to play.
  if (progress !== undefined && !counts.has('story')) return
  expect(counts.get('crash')).toBeGreaterThan(0)
  const missing = happenings.filter((name) => (counts.get(name) ?? 0) === 0)
  if ((counts.get('story') ?? 0) >= enough) expect(missing).toEqual([])
})

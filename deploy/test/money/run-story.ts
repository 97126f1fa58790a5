import { booksOf } from './books.ts'
import { countHappenings, type Happenings } from './happenings.ts'
import { MoneyWorld } from './money-world.ts'
import { playStory } from './play-story.ts'
import type { StoryContext } from './story-context.ts'
import { runRemainingJobs } from './run-remaining-jobs.ts'
import { addCustomer, openShop } from './shop.ts'
import type { Story } from './story.ts'
import { verifyWorldAndUsage } from './verify-world.ts'
import type { Stores } from './stores.ts'

export type StoryResult = {
  readonly crashes: number
  /** Steps of the first process during the story. */
  readonly steps: readonly string[]
  readonly happened: Happenings
}

/** Plays a story to its end, runs all remaining work, and compares the result with the processor. */
export async function runStory(
  stores: Stores,
  story: Story,
  check: (context: StoryContext) => Promise<void> = () => Promise.resolve(),
): Promise<StoryResult> {
  const world = await MoneyWorld.open(stores, story.crashes)
  try {
    const shop = await openShop(stores)
    const customer = await addCustomer(stores, shop)
    const context: StoryContext = { world, shop, customer, known: new Map() }
    await playStory(context, story)
    const steps = [...(world.processes[0]?.steps ?? [])]
    await runRemainingJobs(context)
    await verifyWorldAndUsage(context)
    await check(context)
    const crashes = world.processes.filter((process) => process.hasCrashed).length
    return { crashes, steps, happened: await countHappenings(booksOf(context)) }
  } finally {
    await world.close()
  }
}

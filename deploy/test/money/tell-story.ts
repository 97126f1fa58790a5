import { countHappenings, type Happenings } from './happenings.ts'
import { MoneyWorld } from './money-world.ts'
import { playStory, type Cast } from './play-story.ts'
import { settleWorld } from './settle-world.ts'
import { addCustomer, openShop } from './shop.ts'
import type { Story } from './story.ts'
import { verifyWorldAndUsage } from './verify-world.ts'
import type { Stores } from './stores.ts'

export type Told = {
  readonly deaths: number
  /** Steps of the first process during the story. */
  readonly steps: readonly string[]
  readonly happened: Happenings
}

/** Plays a story to its end, runs all remaining work, and compares the result with the processor. */
export async function tellStory(
  stores: Stores,
  story: Story,
  look: (cast: Cast) => Promise<void> = () => Promise.resolve(),
): Promise<Told> {
  const world = await MoneyWorld.open(stores, story.deaths)
  try {
    const shop = await openShop(stores)
    const customer = await addCustomer(stores, shop)
    const cast: Cast = { world, shop, customer, known: new Map() }
    await playStory(cast, story)
    const steps = [...(world.lives[0]?.steps ?? [])]
    await settleWorld(cast)
    await verifyWorldAndUsage(cast)
    await look(cast)
    const deaths = world.lives.filter((life) => life.isOver).length
    return { deaths, steps, happened: await countHappenings(cast) }
  } finally {
    await world.close()
  }
}

import type { Database } from '@tollgate/platform/database/database'
import { environment } from './environment.ts'
import type { StoryContext } from './story-context.ts'

/** Where the payments of a provider's customers are recorded. */
export type Books = {
  readonly sql: Database['control']
  readonly providerId: string
  readonly processorUrl: string
  readonly now: Date
}

export function booksOf({
  world,
  shop,
}: {
  readonly world: StoryContext['world']
  readonly shop: Pick<StoryContext['shop'], 'providerId'>
}): Books {
  const sql = world.stores.postgres.database.in(environment)
  const processorUrl = world.simulator.simulator.url
  return { sql, providerId: shop.providerId, processorUrl, now: world.now }
}

import { migrationsToAdvance } from '@tollgate/domain/calendar/due-items'
import {
  advanceMigration,
  type AdvanceLimits,
} from '@tollgate/domain/plan-migrations/advance-migration'
import { findMigration } from '@tollgate/domain/plan-migrations/repository'
import type { ItemJob } from './job.ts'

/** Creates the job that schedules the changes of migrations of plans, and withdraws those of cancelled ones, page by page. */
export function createPlanMigrations(limits: AdvanceLimits): ItemJob {
  return {
    kind: 'items',
    name: 'plan-migrations',
    due: migrationsToAdvance,
    // A migration with another page is still due, and is claimed again in the same run.
    perform: async (context, reference) =>
      (await advanceMigration(context, reference, limits)) ? 'done' : 'nothing',
    explain: async (sql, { providerId, item }) => {
      const migration = await findMigration(sql, providerId, item)
      switch (migration?.status) {
        case 'running':
          return `schedule the next purchases after ${migration.processedTo ?? 'the start'}`
        case 'cancelling':
          return 'withdraw the next changes'
        case 'paused':
        case 'done':
        case 'cancelled':
        case undefined:
          return 'nothing'
      }
    },
  }
}

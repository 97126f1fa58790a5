import { refusal } from './refusal.ts'

/** The refusals of requests about scheduled changes and migrations of plans. */
export const planMigrationRefusals = {
  planMigrationNotFound: (reference: string) =>
    refusal('plan_migration_not_found', `Migration with reference ${reference} not found`),
  planMigrationRunning: (planRef: string) =>
    refusal(
      'plan_migration_running',
      `Another migration of the plan ${planRef} is running, paused or being cancelled`,
    ),
  planMigrationNotNow: (reference: string, status: string) =>
    refusal('plan_migration_not_now', `Migration ${reference} is ${status}`),
  changeNotSchedulable: (purchaseRef: string, obstacle: string) =>
    refusal(
      'change_not_schedulable',
      `The change of purchase ${purchaseRef} cannot be scheduled: ${obstacle}`,
    ),
} as const

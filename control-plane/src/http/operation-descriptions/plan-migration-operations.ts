/** Descriptions of scheduled changes and migrations of plans, by operation id. */
export const planMigrationOperations: Readonly<Record<string, string>> = {
  schedulePlanChange:
    'Schedules a change of the purchase to another plan of the product, or to the current terms of its own plan, in place of an earlier choice. Without `effectiveAt` it takes effect with the next renewal. With `effectiveAt` it takes effect within the period that runs then: `prorate` charges or credits the difference for the rest of the period, and `keep_period` charges nothing before the next renewal, and no set-up fee. A difference that cannot be prorated waits for the renewal. The purchase shows the change as `scheduledPlan`.',
  withdrawPlanChange:
    'Withdraws the scheduled change of a purchase, which the customer, the provider or a migration has scheduled. A purchase without a scheduled change stays as it is.',
  previewPlanMigration:
    'Returns, page by page, what a migration would do with each holder of the plan now, when its change would take effect, and what the holder pays by its own and by the new terms, on the usage of its last complete period and without tax. Nothing is stored.',
  createPlanMigration:
    'Moves the holders of the plan to its current terms, or to those of another plan of the product, in the background. With `renewal`, each change takes effect with the next renewal; with `now`, at once. With `notice`, customers are told and each change takes effect that many days later, or with the first renewal after that. Purchases that cannot be moved are skipped with a reason. Without a migration, holders keep their terms.',
  listPlanMigrations: 'Returns the migrations of a plan, newest first.',
  getPlanMigration:
    'Returns a migration with the number of purchases in each state. `done` means that every purchase was scheduled or skipped; scheduled changes take effect on their dates.',
  listMigratedPurchases:
    'Returns the purchases of a migration page by page: when each changes, the purchase that replaced it, or why it was skipped.',
  pausePlanMigration:
    'Stops scheduling further purchases. Changes that are scheduled already take effect.',
  resumePlanMigration: 'Continues a paused migration.',
  cancelPlanMigration:
    'Stops the migration and withdraws the changes that have not taken effect. Purchases that have moved keep their new terms. A migration that is `done` cannot be cancelled while another one of the plan is running, paused or being cancelled.',
}

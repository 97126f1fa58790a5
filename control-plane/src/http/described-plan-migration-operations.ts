import { operation, type DescribedOperation } from './described-operation.ts'

const plan = '/v1/sdk/products/{productRef}/plans/{planRef}'
const migration = `${plan}/migrations/{migrationRef}`

/** Operations that move the holders of a plan to other terms. */
export const describedPlanMigrationOperations: Readonly<Record<string, DescribedOperation>> = {
  [`post ${plan}/migration-preview`]: operation(
    'previewPlanMigration',
    'Preview a migration of the holders of a plan',
    404,
  ),
  [`post ${plan}/migrations`]: operation(
    'createPlanMigration',
    'Move the holders of a plan to other terms',
    404,
    409,
  ),
  [`get ${plan}/migrations`]: operation('listPlanMigrations', 'List the migrations of a plan', 404),
  [`get ${migration}`]: operation('getPlanMigration', 'Get a migration of a plan', 404),
  [`get ${migration}/purchases`]: operation(
    'listMigratedPurchases',
    'List the purchases of a migration',
    404,
  ),
  [`post ${migration}/pause`]: operation('pausePlanMigration', 'Pause a migration', 404, 409),
  [`post ${migration}/resume`]: operation('resumePlanMigration', 'Resume a migration', 404, 409),
  [`post ${migration}/cancel`]: operation('cancelPlanMigration', 'Cancel a migration', 404, 409),
}

import {
  migratedPurchasesResponseSchema,
  migrationPreviewSchema,
  planMigrationCreateSchema,
  planMigrationSchema,
  planMigrationsResponseSchema,
  type PlanMigrationBody,
} from '../plan-migrations.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const progress = { scheduled: 0, moved: 0, skipped: 0, withdrawn: 0, superseded: 0 }

const created: PlanMigrationBody = {
  reference: refs.planMigration,
  ...{ productRef: refs.product, planRef: refs.proPlan, toPlanRef: refs.proPlan },
  ...{ when: 'renewal', notice: 30, status: 'running', progress },
  ...{ createdAt: instants.now, updatedAt: instants.now },
}

const done: PlanMigrationBody = {
  ...created,
  status: 'done',
  progress: { ...progress, scheduled: 210, moved: 34, skipped: 3 },
}

const answer = examplesOf(planMigrationSchema, { Done: done })

const body = examplesOf(planMigrationCreateSchema, {
  'New terms with the next renewal, 30 days after the notice': { when: 'renewal', notice: 30 },
  'Another plan for one customer, at once': {
    ...{ when: 'now', billing: 'keep_period', notice: false },
    ...{ toPlanRef: refs.proPlan, customerRefs: [refs.externalRef] },
  },
})

export const planMigrationExamples = {
  previewPlanMigration: {
    body,
    answer: examplesOf(migrationPreviewSchema, {
      'One holder': {
        ...{ planRef: refs.proPlan, toPlanRef: refs.proPlan },
        ...{ asOf: instants.now, usageAsOf: instants.now },
        holders: [
          {
            ...{ purchaseRef: refs.purchase, customerRef: refs.customer, currency: 'USD' },
            period: { start: '2026-02-01T09:30:00.000Z', end: instants.created },
            before: { price: 4_900, usage: 0, total: 4_900 },
            after: { price: 5_900, usage: 0, total: 5_900 },
            difference: 1_000,
            ...{ outcome: 'moves', effectiveAt: '2026-05-01T09:30:00.000Z' },
          },
        ],
        ...{ total: 1, limit: 25, offset: 0 },
      },
    }),
  },
  createPlanMigration: { body, answer: examplesOf(planMigrationSchema, { Created: created }) },
  listPlanMigrations: {
    answer: examplesOf(planMigrationsResponseSchema, {
      'One migration': { migrations: [done], total: 1, limit: 25, offset: 0 },
    }),
  },
  getPlanMigration: { answer },
  listMigratedPurchases: {
    answer: examplesOf(migratedPurchasesResponseSchema, {
      'One is scheduled, and one skipped': {
        purchases: [
          {
            ...{ purchaseRef: refs.purchase, customerRef: refs.customer, status: 'scheduled' },
            effectiveAt: '2026-05-01T09:30:00.000Z',
          },
          {
            ...{ purchaseRef: 'pur_8KQ2MZ4XW7RT', customerRef: 'cus_8kq2mz4xw7rt' },
            ...{ status: 'skipped', reason: 'suspended' },
          },
        ],
        ...{ total: 2, limit: 25, offset: 0 },
      },
    }),
  },
  pausePlanMigration: {
    answer: examplesOf(planMigrationSchema, { Paused: { ...created, status: 'paused' } }),
  },
  resumePlanMigration: { answer: examplesOf(planMigrationSchema, { Running: created }) },
  cancelPlanMigration: {
    answer: examplesOf(planMigrationSchema, { Cancelling: { ...done, status: 'cancelling' } }),
  },
}

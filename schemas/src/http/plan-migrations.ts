import { z } from 'zod'
import { migrationFilterMax, noticeDaysMax } from '../limits.ts'
import { pageQuery, requiredReference } from './fields.ts'
import { previewedHolderSchema } from './previews.ts'
import { changeBillings } from './scheduled-changes.ts'

/* Moves of the holders of a plan to its current terms, or to another plan of the product. */

const filter = z.array(requiredReference).min(1).max(migrationFilterMax)

export const planMigrationCreateSchema = z
  .object({
    /** The plan whose current terms the holders get. Absent: the plan itself. */
    toPlanRef: requiredReference.optional(),
    when: z.enum(['now', 'renewal']),
    /** Only with `now`. Absent: `prorate`. */
    billing: z.enum(changeBillings).optional(),
    /** Days from the notice that customers get to the change. `false`: no notice. */
    notice: z.union([z.literal(false), z.int().min(0).max(noticeDaysMax)]).default(false),
    /** Moves only these purchases. */
    purchaseRefs: filter.optional(),
    /** Moves only the purchases of these customers. */
    customerRefs: filter.optional(),
  })
  .refine(({ when, billing }) => when === 'now' || billing === undefined, {
    error: 'A change with a renewal is billed by the renewal: leave out `billing`',
    path: ['billing'],
  })

export type PlanMigrationInput = z.infer<typeof planMigrationCreateSchema>

export const planMigrationStatuses = [
  'running',
  'paused',
  'done',
  'cancelling',
  'cancelled',
] as const

export type PlanMigrationStatus = (typeof planMigrationStatuses)[number]

/** Why a purchase cannot be moved. */
const moveObstacles = [
  'ended',
  'suspended',
  'past_due',
  'trialing',
  'cancelled',
  'does_not_renew',
  'change_pending',
  'other_currency',
  'other_period',
  'free_plan',
] as const

export type MoveObstacle = (typeof moveObstacles)[number]

/** Why a purchase keeps its terms. `failed`: an error occurred twice while it was processed. */
export const migrationObstacles = [...moveObstacles, 'failed'] as const

export type MigrationObstacle = (typeof migrationObstacles)[number]

export const migratedStatuses = [
  'scheduled',
  'moved',
  'skipped',
  'withdrawn',
  'superseded',
] as const

export type MigratedStatus = (typeof migratedStatuses)[number]

const count = z.int().nonnegative()

export const planMigrationSchema = z.object({
  reference: z.string(),
  productRef: z.string(),
  planRef: z.string(),
  toPlanRef: z.string(),
  when: z.enum(['now', 'renewal']),
  billing: z.enum(changeBillings).optional(),
  notice: z.union([z.literal(false), z.int()]),
  purchaseRefs: z.array(z.string()).optional(),
  customerRefs: z.array(z.string()).optional(),
  /** `done`: every purchase was processed. Scheduled changes take effect on their dates. */
  status: z.enum(planMigrationStatuses),
  /** Number of purchases in each status. A purchase that already has the new terms is not counted. */
  progress: z.object({
    scheduled: count,
    moved: count,
    skipped: count,
    withdrawn: count,
    superseded: count,
  }),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type PlanMigrationBody = z.infer<typeof planMigrationSchema>

export const planMigrationsResponseSchema = z.object({
  migrations: z.array(planMigrationSchema),
  total: count,
  limit: count,
  offset: count,
})

export const migratedPurchasesQuerySchema = z.object({
  status: z.enum(migratedStatuses).optional(),
  ...pageQuery,
})

export const migratedPurchaseSchema = z.object({
  purchaseRef: z.string(),
  customerRef: z.string(),
  /** `superseded`: the purchase ended or was changed otherwise before the change took effect. */
  status: z.enum(migratedStatuses),
  /** Why the purchase was skipped. */
  reason: z.enum(migrationObstacles).optional(),
  effectiveAt: z.string().optional(),
  /** The purchase that replaced this one. */
  movedTo: z.string().optional(),
})

export type MigratedPurchaseBody = z.infer<typeof migratedPurchaseSchema>

export const migratedPurchasesResponseSchema = z.object({
  purchases: z.array(migratedPurchaseSchema),
  total: count,
  limit: count,
  offset: count,
})

export const migrationPreviewSchema = z.object({
  planRef: z.string(),
  toPlanRef: z.string(),
  asOf: z.string(),
  /** Missing for a page without holders. */
  usageAsOf: z.string().optional(),
  /** Newest first. */
  holders: z.array(
    previewedHolderSchema.extend({
      /** `moves`, `unchanged` if the purchase has the terms already, or why it is skipped. */
      outcome: z.enum(['moves', 'unchanged', ...moveObstacles]),
      effectiveAt: z.string().optional(),
      /** Charged when the change takes effect, without tax. Negative: credited. Missing if it waits for a renewal. */
      charge: z.int().optional(),
    }),
  ),
  total: count,
  limit: count,
  offset: count,
})

export type MigrationPreviewBody = z.infer<typeof migrationPreviewSchema>

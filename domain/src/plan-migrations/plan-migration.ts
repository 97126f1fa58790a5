import type { PlanMigrationStatus } from '@tollgate/schemas/http/plan-migrations'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** A move of the holders of a plan to the current terms of a plan of the same product. */
export type PlanMigration = {
  readonly reference: string
  readonly productRef: string
  /** The plan whose holders are moved. */
  readonly planRef: string
  /** The terms to which they move, without a set-up fee, as they were when the migration was created. */
  readonly target: PlanSnapshot
  /** How a change within the running period is billed. Null: each change takes effect with a renewal. */
  readonly billing: ChangeBilling | null
  /** Days from the notice to the change. Null: customers get no notice. */
  readonly noticeDays: number | null
  /** The only purchases and customers that are moved. Null: all. */
  readonly purchaseRefs: readonly string[] | null
  readonly customerRefs: readonly string[] | null
  readonly status: PlanMigrationStatus
  /** Purchases are processed in the order of their references. All up to this one are done. Null: none. */
  readonly processedTo: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What a person can do to a migration, and the states in which that has an effect. */
export const migrationMoves = {
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  cancel: { from: ['running', 'paused', 'done'], to: 'cancelling' },
} as const satisfies Record<
  string,
  { readonly from: readonly PlanMigrationStatus[]; readonly to: PlanMigrationStatus }
>

export type MigrationMove = keyof typeof migrationMoves

const dayMs = 86_400_000

/** Returns the earliest time of a change whose customer gets the notice now. */
export function noticedFrom({ noticeDays }: Pick<PlanMigration, 'noticeDays'>, now: Date): Date {
  return new Date(now.getTime() + (noticeDays ?? 0) * dayMs)
}

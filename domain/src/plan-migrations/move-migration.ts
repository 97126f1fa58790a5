import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { migrationMoves, type MigrationMove, type PlanMigration } from './plan-migration.ts'
import { hasOpenMigration, lockMigration, updateMigrationStatus } from './repository.ts'

export type MoveMigrationOutcome =
  | { readonly kind: 'moved'; readonly migration: PlanMigration }
  | { readonly kind: 'not-found' }
  /** The migration has a state in which the move has no effect. */
  | { readonly kind: 'refused'; readonly migration: PlanMigration }
  /** Another migration of the plan is not done yet. */
  | { readonly kind: 'another-running'; readonly migration: PlanMigration }

/**
 * Pauses, resumes or cancels a migration. A repeated request changes nothing. A pause waits for the purchases that are being processed,
 * so none is scheduled after its response. A cancelled migration is no longer the only one of its plan once its changes are withdrawn.
 * A migration that is done is not cancelled beside another one: of two requests at once, the unique index lets one decide again.
 */
export async function moveMigration(
  work: UnitOfWork,
  reference: string,
  move: MigrationMove,
): Promise<MoveMigrationOutcome> {
  const { sql, providerId, now } = work
  const migration = await lockMigration(sql, providerId, reference)
  if (migration === undefined) return { kind: 'not-found' }
  const { from, to }: { from: readonly string[]; to: PlanMigration['status'] } =
    migrationMoves[move]
  if (isRepeated(migration, move)) return { kind: 'moved', migration }
  if (!from.includes(migration.status)) return { kind: 'refused', migration }
  const isOpenAlready = migration.status !== 'done'
  if (!isOpenAlready && (await hasOpenMigration(sql, providerId, migration.planRef))) {
    return { kind: 'another-running', migration }
  }
  const moved = { ...migration, status: to, updatedAt: now }
  await updateMigrationStatus(sql, providerId, moved)
  return { kind: 'moved', migration: moved }
}

function isRepeated({ status }: PlanMigration, move: MigrationMove): boolean {
  return status === migrationMoves[move].to || (move === 'cancel' && status === 'cancelled')
}

import type { MigrationItem } from '@tollgate/domain/plan-migrations/items-repository'
import type { PlanMigration } from '@tollgate/domain/plan-migrations/plan-migration'
import type { HolderMove } from '@tollgate/domain/previews/preview-migration'
import type { PricedHolder } from '@tollgate/domain/previews/price-holder'
import type {
  MigratedPurchaseBody,
  MigratedStatus,
  MigrationPreviewBody,
  PlanMigrationBody,
} from '@tollgate/schemas/http/plan-migrations'
import { definedFields } from '../../domain/defined-fields.ts'
import { holderToHttp } from './previews.ts'

export function planMigrationToHttp(
  migration: PlanMigration,
  counts: ReadonlyMap<MigratedStatus, number>,
): PlanMigrationBody {
  const { reference, productRef, planRef, target, billing, noticeDays, status } = migration
  const { purchaseRefs, customerRefs } = migration
  const count = (of: MigratedStatus): number => counts.get(of) ?? 0
  return {
    ...{ reference, productRef, planRef, toPlanRef: target.reference, status },
    when: billing === null ? 'renewal' : 'now',
    notice: noticeDays ?? false,
    progress: {
      scheduled: count('scheduled'),
      moved: count('moved'),
      skipped: count('skipped'),
      withdrawn: count('withdrawn'),
      superseded: count('superseded'),
    },
    createdAt: migration.createdAt.toISOString(),
    updatedAt: migration.updatedAt.toISOString(),
    ...definedFields({
      billing,
      purchaseRefs: purchaseRefs === null ? undefined : [...purchaseRefs],
      customerRefs: customerRefs === null ? undefined : [...customerRefs],
    }),
  }
}

export function migratedPurchaseToHttp(item: MigrationItem): MigratedPurchaseBody {
  const { purchaseRef, customerRef, status, reason, effectiveAt, movedTo } = item
  return {
    ...{ purchaseRef, customerRef, status },
    ...definedFields({ reason, effectiveAt: effectiveAt?.toISOString(), movedTo }),
  }
}

export function movedHolderToHttp({
  move,
  ...holder
}: PricedHolder & { readonly move: HolderMove }): MigrationPreviewBody['holders'][number] {
  const { outcome } = move
  if (outcome !== 'moves') return { ...holderToHttp(holder), outcome }
  const { effectiveAt, chargeMinor } = move
  return {
    ...holderToHttp(holder),
    outcome,
    effectiveAt: effectiveAt.toISOString(),
    ...definedFields({ charge: chargeMinor === undefined ? undefined : Number(chargeMinor) }),
  }
}

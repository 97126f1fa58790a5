import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { PlanMigrationInput } from '@tollgate/schemas/http/plan-migrations'
import { findPlan } from '../catalog/plans-repository.ts'
import { lockProductAgainstRemoval } from '../catalog/products-repository.ts'
import { findCustomerReference } from '../customers/repository.ts'
import { fieldFault } from '../plans/field-fault.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { ReadingAt, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { migrationTerms, targetFault, type MigrationTerms } from './decide-migration.ts'
import type { PlanMigration } from './plan-migration.ts'
import { insertMigration, listHeld } from './repository.ts'

export type MigrationRequest = {
  readonly productRef: string
  readonly planRef: string
  readonly input: PlanMigrationInput
}

/** A request whose plans, purchases and customers exist. */
export type ResolvedMigration = MigrationTerms &
  Pick<PlanMigration, 'productRef' | 'planRef' | 'purchaseRefs' | 'customerRefs'>

export type MigrationRefusal =
  | { readonly kind: 'plan-not-found'; readonly planRef: string }
  | { readonly kind: 'invalid'; readonly issues: readonly ValidationIssue[] }

/** Reads the plans, purchases and customers that the request names. */
export async function resolveMigration(
  { sql, providerId }: Pick<ReadingAt, 'sql' | 'providerId'>,
  { productRef, planRef, input }: MigrationRequest,
): Promise<{ readonly kind: 'resolved'; readonly of: ResolvedMigration } | MigrationRefusal> {
  const targetRef = input.toPlanRef ?? planRef
  const plan = await findPlan(sql, providerId, productRef, planRef)
  if (plan === undefined) return { kind: 'plan-not-found', planRef }
  const target = await findPlan(sql, providerId, productRef, targetRef)
  if (target === undefined) return { kind: 'plan-not-found', planRef: targetRef }
  const fault = targetFault(target)
  if (fault !== undefined) return { kind: 'invalid', issues: [fault] }
  const { purchaseRefs = null, customerRefs = null } = input
  const held = purchaseRefs === null ? null : await listHeld(sql, providerId, planRef, purchaseRefs)
  const customers =
    customerRefs === null
      ? null
      : await Promise.all(customerRefs.map((each) => findCustomerReference(sql, providerId, each)))
  const issues = [
    ...missing('purchaseRefs', purchaseRefs, (ref) => held?.has(ref) === true),
    ...missing('customerRefs', customerRefs, (_, at) => customers?.[at] !== undefined),
  ]
  if (issues.length > 0) return { kind: 'invalid', issues }
  const known = customers?.filter((each) => each !== undefined) ?? null
  const of = { productRef, planRef, purchaseRefs, customerRefs: known }
  return { kind: 'resolved', of: { ...of, ...migrationTerms(input, target) } }
}

function missing(
  field: 'purchaseRefs' | 'customerRefs',
  references: readonly string[] | null,
  isKnown: (reference: string, at: number) => boolean,
): ValidationIssue[] {
  const what = field === 'customerRefs' ? 'customer' : 'purchase of the plan'
  return (references ?? []).flatMap((reference, at) =>
    isKnown(reference, at) ? [] : [fieldFault([field, at], `There is no ${what} ${reference}.`)],
  )
}

export type CreateMigrationOutcome =
  | { readonly kind: 'created'; readonly migration: PlanMigration }
  | { readonly kind: 'product-not-found' }
  /** Another migration of the plan is not done yet. */
  | { readonly kind: 'another-running' }
  | MigrationRefusal

/** Creates a migration with the current terms of the plan. Later changes of the plan do not change it. */
export async function createMigration(
  work: UnitOfWork,
  request: MigrationRequest,
): Promise<CreateMigrationOutcome> {
  const { sql, providerId, now } = work
  const product = await lockProductAgainstRemoval(sql, providerId, request.productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  const resolved = await resolveMigration(work, request)
  if (resolved.kind !== 'resolved') return resolved
  const migration: PlanMigration = {
    reference: generateReference('planMigration'),
    ...resolved.of,
    ...{ status: 'running', processedTo: null, createdAt: now, updatedAt: now },
  }
  const isAlone = await insertMigration(sql, providerId, migration)
  return isAlone ? { kind: 'created', migration } : { kind: 'another-running' }
}

import { z } from 'zod'
import {
  createMigration,
  type CreateMigrationOutcome,
  type MigrationRefusal,
} from '@tollgate/domain/plan-migrations/create-migration'
import { countItems, listItems } from '@tollgate/domain/plan-migrations/items-repository'
import { moveMigration } from '@tollgate/domain/plan-migrations/move-migration'
import {
  migrationMoves,
  type MigrationMove,
  type PlanMigration,
} from '@tollgate/domain/plan-migrations/plan-migration'
import { findMigration, listMigrations } from '@tollgate/domain/plan-migrations/repository'
import { previewMigration } from '@tollgate/domain/previews/preview-migration'
import { clampPage, pageQuery, requiredReference } from '@tollgate/schemas/http/fields'
import {
  migratedPurchasesQuerySchema,
  migratedPurchasesResponseSchema,
  migrationPreviewSchema,
  planMigrationCreateSchema,
  planMigrationSchema,
  planMigrationsResponseSchema,
  type PlanMigrationBody,
} from '@tollgate/schemas/http/plan-migrations'
import type { Queryable } from '@tollgate/platform/database/database'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { getProduct } from '../../access/require.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import type { Previews } from '../../previews/previews.ts'
import {
  migratedPurchaseToHttp,
  movedHolderToHttp,
  planMigrationToHttp,
} from '../translate/plan-migration.ts'

type Parts = ChangeParts & ReadParts & { readonly previews: Previews }

const planPath = '/v1/sdk/products/:productRef/plans/:planRef'
const path = `${planPath}/migrations`
const planParams = z.object({ productRef: requiredReference, planRef: requiredReference })
const params = planParams.extend({ migrationRef: requiredReference })
const tags = ['Plans']

/** Registers the routes that move the holders of a plan to other terms. */
export function registerPlanMigrationRoutes(app: ApiServer, parts: Parts): void {
  registerReads(app, parts)
  registerPreview(app, parts)
  registerChanges(app, parts)
}

function registerReads(app: ApiServer, parts: Parts): void {
  app.get(
    path,
    {
      schema: {
        ...{ tags, params: planParams, querystring: z.object(pageQuery) },
        response: { 200: planMigrationsResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { productRef, planRef } = request.params
      const page = clampPage(request.query)
      return read(parts, caller, async (sql) => {
        await getProduct(sql, caller, productRef)
        const { migrations, total } = await listMigrations(sql, caller.providerId, planRef, page)
        const bodies: PlanMigrationBody[] = []
        for (const each of migrations) bodies.push(await bodyOf(sql, caller, each))
        return { migrations: bodies, total, ...page }
      })
    },
  )

  app.get(
    `${path}/:migrationRef`,
    { schema: { tags, params, response: { 200: planMigrationSchema } } },
    async (request) => {
      const caller = callerOf(request)
      return read(parts, caller, async (sql) =>
        bodyOf(sql, caller, await getMigration(sql, caller, request.params)),
      )
    },
  )

  app.get(
    `${path}/:migrationRef/purchases`,
    {
      schema: {
        ...{ tags, params, querystring: migratedPurchasesQuerySchema },
        response: { 200: migratedPurchasesResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { status } = request.query
      const page = clampPage(request.query)
      return read(parts, caller, async (sql) => {
        const { reference } = await getMigration(sql, caller, request.params)
        const items = await listItems(sql, caller.providerId, reference, status, page)
        const counts = await countItems(sql, caller.providerId, reference)
        const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
        const total = status === undefined ? all : (counts.get(status) ?? 0)
        return { purchases: items.map(migratedPurchaseToHttp), total, ...page }
      })
    },
  )
}

function registerPreview(app: ApiServer, { previews }: Parts): void {
  app.post(
    `${planPath}/migration-preview`,
    {
      // A preview stores nothing, so the scope that reads plans is enough.
      config: { scope: 'read' },
      schema: {
        ...{ tags, params: planParams, querystring: z.object(pageQuery) },
        body: planMigrationCreateSchema,
        response: { 200: migrationPreviewSchema },
      },
    },
    async (request) => {
      const { productRef, planRef } = request.params
      const page = previews.holdersPage(request.query)
      return previews.run(callerOf(request), async (own, at) => {
        const wanted = { productRef, planRef, input: request.body }
        const preview = await previewMigration(own, at, wanted, page)
        if (preview.kind !== 'previewed') throw refusalOf(preview, productRef, planRef)
        const { target, holders, total, usageAsOf } = preview
        return {
          ...{ planRef, toPlanRef: target.reference, asOf: at.now.toISOString() },
          holders: holders.map(movedHolderToHttp),
          ...{ total, ...page },
          ...definedFields({ usageAsOf: usageAsOf?.toISOString() }),
        }
      })
    },
  )
}

function registerChanges(app: ApiServer, parts: Parts): void {
  app.post(
    path,
    {
      schema: {
        ...{ tags, params: planParams, body: planMigrationCreateSchema },
        response: { 201: planMigrationSchema },
      },
    },
    async (request, reply) => {
      const { productRef, planRef } = request.params
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        createMigration(work, { productRef, planRef, input: request.body }),
      )
      if (outcome.kind !== 'created') throw refusalOf(outcome, productRef, planRef)
      return reply.code(201).send(planMigrationToHttp(outcome.migration, new Map()))
    },
  )

  for (const move of Object.keys(migrationMoves) as MigrationMove[]) {
    app.post(
      `${path}/:migrationRef/${move}`,
      { schema: { tags, params, response: { 200: planMigrationSchema } } },
      (request) => moveAndRead(parts, request, request.params, move),
    )
  }
}

async function moveAndRead(
  parts: Parts,
  request: FastifyRequest,
  names: z.infer<typeof params>,
  move: MigrationMove,
): Promise<PlanMigrationBody> {
  const { migrationRef } = names
  const caller = callerOf(request)
  await read(parts, caller, (sql) => getMigration(sql, caller, names))
  const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
    moveMigration(work, migrationRef, move),
  )
  switch (outcome.kind) {
    case 'not-found':
      throw refusals.planMigrationNotFound(migrationRef)
    case 'another-running':
      throw refusals.planMigrationRunning(outcome.migration.planRef)
    case 'refused':
      throw refusals.planMigrationNotNow(migrationRef, outcome.migration.status)
    case 'moved':
      return read(parts, caller, (sql) => bodyOf(sql, caller, outcome.migration))
  }
}

/** Returns the migration of the plan that the path names. */
async function getMigration(
  sql: Queryable,
  { providerId }: Caller,
  { productRef, planRef, migrationRef }: z.infer<typeof params>,
): Promise<PlanMigration> {
  const migration = await findMigration(sql, providerId, migrationRef)
  const isNamed = migration?.planRef === planRef && migration.productRef === productRef
  if (migration === undefined || !isNamed) throw refusals.planMigrationNotFound(migrationRef)
  return migration
}

async function bodyOf(
  sql: Queryable,
  { providerId }: Caller,
  migration: PlanMigration,
): Promise<PlanMigrationBody> {
  return planMigrationToHttp(migration, await countItems(sql, providerId, migration.reference))
}

function refusalOf(
  outcome: Exclude<CreateMigrationOutcome, { kind: 'created' }> | MigrationRefusal,
  productRef: string,
  planRef: string,
): Error {
  switch (outcome.kind) {
    case 'product-not-found':
      return refusals.productNotFound(productRef)
    case 'plan-not-found':
      return refusals.planNotFound(outcome.planRef)
    case 'invalid':
      return new InvalidRequestError(outcome.issues)
    case 'another-running':
      return refusals.planMigrationRunning(planRef)
  }
}

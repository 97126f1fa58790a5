import { z } from 'zod'
import { changePlan } from '@tollgate/domain/catalog/change-plan'
import { createPlan, type SavePlanOutcome } from '@tollgate/domain/catalog/create-plan'
import { deletePlan } from '@tollgate/domain/deletion/delete-plan'
import type { Plan } from '@tollgate/domain/plans/plan'
import { findPlan, listPlansPage } from '@tollgate/domain/catalog/plans-repository'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  deletedResponseSchema,
  planCreateSchema,
  planSchema,
  plansQuerySchema,
  plansResponseSchema,
  planUpdateSchema,
} from '@tollgate/schemas/http/plans'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireProduct, requireProvider } from '../../access/require.ts'
import { planRefusalOf } from '../plan-refusal.ts'
import { planToHttp } from '../translate/plan.ts'

const productParams = z.object({ productRef: requiredReference })
const planParams = z.object({ productRef: requiredReference, planRef: requiredReference })
const tags = ['Plans']

export function registerPlanRoutes(app: ApiServer, parts: ChangeParts): void {
  registerReads(app, parts)
  registerWrites(app, parts)
}

function registerReads(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/sdk/products/:productRef/plans',
    {
      schema: {
        tags,
        params: productParams,
        querystring: plansQuerySchema,
        response: { 200: plansResponseSchema },
      },
    },
    async (request) => {
      const { productRef } = request.params
      const caller = callerOf(request)
      await requireProduct(parts, caller, productRef)
      const page = clampPage(request.query)
      const { plans, total } = await read(parts, caller, (sql) =>
        listPlansPage(sql, caller.providerId, productRef, page),
      )
      return { plans: plans.map(planToHttp), total, ...page }
    },
  )

  app.get(
    '/v1/sdk/products/:productRef/plans/:planRef',
    { schema: { tags, params: planParams, response: { 200: planSchema } } },
    async (request) => {
      const { productRef, planRef } = request.params
      const caller = callerOf(request)
      await requireProduct(parts, caller, productRef)
      const plan = await read(parts, caller, (sql) =>
        findPlan(sql, caller.providerId, productRef, planRef),
      )
      if (plan === undefined) throw refusals.planNotFound(planRef)
      return planToHttp(plan)
    },
  )
}

function registerWrites(app: ApiServer, parts: ChangeParts): void {
  app.post(
    '/v1/sdk/products/:productRef/plans',
    {
      schema: {
        tags,
        params: productParams,
        body: planCreateSchema,
        response: { 201: planSchema },
      },
    },
    async (request, reply) => {
      const { productRef } = request.params
      const { defaultCurrency: currency } = await requireProvider(parts, callerOf(request))
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        createPlan(work, productRef, request.body, currency),
      )
      return reply.code(201).send(planToHttp(requireSavedPlan(outcome, productRef, '')))
    },
  )

  app.put(
    '/v1/sdk/products/:productRef/plans/:planRef',
    {
      schema: { tags, params: planParams, body: planUpdateSchema, response: { 200: planSchema } },
    },
    async (request) => {
      const { productRef, planRef } = request.params
      const { defaultCurrency: currency } = await requireProvider(parts, callerOf(request))
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        changePlan(work, productRef, planRef, request.body, currency),
      )
      return planToHttp(requireSavedPlan(outcome, productRef, planRef))
    },
  )

  app.delete(
    '/v1/sdk/products/:productRef/plans/:planRef',
    { schema: { tags, params: planParams, response: { 200: deletedResponseSchema } } },
    async (request) => {
      const { productRef, planRef } = request.params
      await requireProduct(parts, callerOf(request), productRef)
      const plan = await commit(parts, operationOf(request, parts.clock), (work) =>
        deletePlan(work, productRef, planRef),
      )
      if (plan === undefined) throw refusals.planNotFound(planRef)
      return { success: true as const }
    },
  )
}

function requireSavedPlan(outcome: SavePlanOutcome, productRef: string, planRef: string): Plan {
  switch (outcome.kind) {
    case 'plan':
      return outcome.plan
    case 'product-not-found':
      throw refusals.productNotFound(productRef)
    case 'plan-not-found':
      throw refusals.planNotFound(planRef)
    case 'refused':
      throw planRefusalOf(outcome)
  }
}

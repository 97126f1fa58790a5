import { z } from 'zod'
import {
  changeSchedule,
  moveSchedule,
  scheduleMoves,
  type ChangeScheduleOutcome,
  type ScheduleName,
} from '@tollgate/domain/credit-schedules/change-schedule'
import { createSchedule } from '@tollgate/domain/credit-schedules/create-schedule'
import {
  findSchedule,
  listScheduledGrants,
  listSchedules,
} from '@tollgate/domain/credit-schedules/repository'
import type { Operation, UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import {
  creditScheduleChangeSchema,
  creditScheduleCreateSchema,
  creditScheduleSchema,
  creditSchedulesResponseSchema,
  scheduledGrantsQuerySchema,
  scheduledGrantsResponseSchema,
  type CreditScheduleBody,
} from '@tollgate/schemas/http/credit-schedules'
import { clampPage, pageQuery, requiredReference } from '@tollgate/schemas/http/fields'
import { creditSchedulesMax } from '@tollgate/schemas/limits'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { requireCustomer } from '../../access/require.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { creditScheduleToHttp, scheduledGrantToHttp } from '../translate/credit-schedule.ts'

const path = '/v1/ui/customers/:reference/credit-schedules'
const customerParams = z.object({ reference: requiredReference })
const params = customerParams.extend({ scheduleRef: requiredReference })
const tags = ['Credits']

/** Registers the routes of credits that a customer gets repeatedly. */
export function registerCreditScheduleRoutes(app: ApiServer, parts: ChangeParts): void {
  registerReads(app, parts)
  registerChanges(app, parts)
}

function registerReads(app: ApiServer, parts: ChangeParts): void {
  app.get(
    path,
    {
      schema: {
        ...{ tags, params: customerParams, querystring: z.object(pageQuery) },
        response: { 200: creditSchedulesResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const customer = await requireCustomer(parts, caller, request.params.reference)
      const page = clampPage(request.query)
      const { schedules, total } = await read(parts, caller, (sql) =>
        listSchedules(sql, caller.providerId, customer.reference, page),
      )
      return { schedules: schedules.map(creditScheduleToHttp), total, ...page }
    },
  )

  app.get(
    `${path}/:scheduleRef/grants`,
    {
      schema: {
        ...{ tags, params, querystring: scheduledGrantsQuerySchema },
        response: { 200: scheduledGrantsResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { reference, scheduleRef } = request.params
      const customer = await requireCustomer(parts, caller, reference)
      const page = clampPage(request.query)
      return read(parts, caller, async (sql) => {
        const schedule = await findSchedule(sql, caller.providerId, scheduleRef)
        if (schedule?.customerRef !== customer.reference) {
          throw refusals.creditScheduleNotFound(scheduleRef)
        }
        const found = await listScheduledGrants(sql, caller.providerId, scheduleRef, page)
        return { grants: found.grants.map(scheduledGrantToHttp), total: found.total, ...page }
      })
    },
  )
}

function registerChanges(app: ApiServer, parts: ChangeParts): void {
  app.post(
    path,
    {
      schema: {
        ...{ tags, params: customerParams, body: creditScheduleCreateSchema },
        response: { 201: creditScheduleSchema },
      },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { reference } = request.params
      const customer = await requireCustomer(parts, operation, reference)
      const outcome = await commit(parts, operation, (work) =>
        createSchedule(work, customer.reference, request.body),
      )
      switch (outcome.kind) {
        case 'created':
          return reply.code(201).send(creditScheduleToHttp(outcome.schedule))
        case 'customer-not-found':
          throw refusals.customerNotFound(reference)
        case 'purchase-not-found':
          throw refusals.purchaseNotFound(outcome.purchaseRef)
        case 'key-reused':
          throw refusals.idempotencyKeyReused()
        case 'too-many':
          throw refusals.tooManyCreditSchedules(creditSchedulesMax)
        case 'invalid':
          throw new InvalidRequestError(outcome.issues)
      }
    },
  )

  app.patch(
    `${path}/:scheduleRef`,
    {
      schema: {
        ...{ tags, params, body: creditScheduleChangeSchema },
        response: { 200: creditScheduleSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      return change(parts, operation, request.params, (work, name) =>
        changeSchedule(work, name, request.body),
      )
    },
  )

  for (const move of scheduleMoves) {
    app.post(
      `${path}/:scheduleRef/${move}`,
      { schema: { tags, params, response: { 200: creditScheduleSchema } } },
      async (request) => {
        const operation = operationOf(request, parts.clock)
        return change(parts, operation, request.params, (work, name) =>
          moveSchedule(work, name, move),
        )
      },
    )
  }
}

/** Changes the schedule of the path, and returns its body. */
async function change(
  parts: ChangeParts,
  operation: Operation,
  { reference, scheduleRef }: z.infer<typeof params>,
  body: (work: UnitOfWork, name: ScheduleName) => Promise<ChangeScheduleOutcome>,
): Promise<CreditScheduleBody> {
  const customer = await requireCustomer(parts, operation, reference)
  const name = { customerRef: customer.reference, reference: scheduleRef }
  const outcome = await commit(parts, operation, (work) => body(work, name))
  switch (outcome.kind) {
    case 'changed':
      return creditScheduleToHttp(outcome.schedule)
    case 'not-found':
      throw refusals.creditScheduleNotFound(scheduleRef)
    case 'ended':
      throw refusals.creditScheduleEnded(scheduleRef)
    case 'invalid':
      throw new InvalidRequestError(outcome.issues)
  }
}

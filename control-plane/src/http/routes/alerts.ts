import { z } from 'zod'
import type { Alert } from '@tollgate/domain/alerts/alert'
import { changeAlert, createAlert, removeAlert } from '@tollgate/domain/alerts/manage-alerts'
import { findAlert, listAlerts } from '@tollgate/domain/alerts/repository'
import { planExists } from '@tollgate/domain/catalog/plans-repository'
import {
  alertCreateSchema,
  alertDeletedSchema,
  alertSchema,
  alertsQuerySchema,
  alertsResponseSchema,
  alertUpdateSchema,
  faultsOfThresholds,
  thresholdFields,
  type AlertBody,
  type AlertCreateInput,
} from '@tollgate/schemas/http/alerts'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import { sharedAlertsMax } from '@tollgate/schemas/limits'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { requireCustomer } from '../../access/require.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import { InvalidRequestError, invalidField, refusals } from '../../errors.ts'

const path = '/v1/ui/alerts'
const params = z.object({ alertRef: requiredReference })
const tags = ['Alerts']

export function registerAlertRoutes(app: ApiServer, parts: ChangeParts): void {
  registerReads(app, parts)
  registerChanges(app, parts)
}

function registerReads(app: ApiServer, parts: ChangeParts): void {
  app.get(
    path,
    {
      schema: { tags, querystring: alertsQuerySchema, response: { 200: alertsResponseSchema } },
    },
    async (request) => {
      const caller = callerOf(request)
      const { customerRef: anyReference, planRef } = request.query
      const customerRef =
        anyReference && (await requireCustomer(parts, caller, anyReference)).reference
      const alerts = await read(parts, caller, (sql) =>
        listAlerts(sql, caller.providerId, { customerRef, planRef }, clampPage(request.query)),
      )
      return { alerts: alerts.map(alertToHttp) }
    },
  )

  app.get(
    `${path}/:alertRef`,
    { schema: { tags, params, response: { 200: alertSchema } } },
    async (request) => alertToHttp(await requireAlert(parts, callerOf(request), request.params)),
  )
}

function registerChanges(app: ApiServer, parts: ChangeParts): void {
  app.post(
    path,
    { schema: { tags, body: alertCreateSchema, response: { 201: alertSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const fields = await newAlertOf(parts, operation, request.body)
      const outcome = await commit(parts, operation, (work) =>
        createAlert(work, fields, sharedAlertsMax),
      )
      switch (outcome.kind) {
        case 'alert':
          return reply.code(201).send(alertToHttp(outcome.alert))
        case 'exists':
          throw refusals.alertExists()
        case 'too-many':
          throw refusals.tooManyAlerts(sharedAlertsMax)
      }
    },
  )

  app.patch(
    `${path}/:alertRef`,
    { schema: { tags, params, body: alertUpdateSchema, response: { 200: alertSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { alertRef } = request.params
      const { watches } = await requireAlert(parts, operation, request.params)
      const faults = faultsOfThresholds(watches, request.body.thresholds)
      if (faults.length > 0) {
        throw new InvalidRequestError(
          faults.map((fault) => ({ code: 'custom', ...fault, path: [...fault.path] })),
        )
      }
      const thresholds = request.body.thresholds.map(thresholdFields)
      const alert = await commit(parts, operation, (work) =>
        changeAlert(work, alertRef, thresholds),
      )
      if (alert === undefined) throw refusals.alertNotFound(alertRef)
      return alertToHttp(alert)
    },
  )

  app.delete(
    `${path}/:alertRef`,
    { schema: { tags, params, response: { 200: alertDeletedSchema } } },
    async (request) => {
      const { alertRef } = request.params
      const operation = operationOf(request, parts.clock)
      const isDeleted = await commit(parts, operation, (work) => removeAlert(work, alertRef))
      if (!isDeleted) throw refusals.alertNotFound(alertRef)
      return { success: true as const }
    },
  )
}

async function requireAlert(
  parts: ChangeParts,
  caller: Caller,
  { alertRef }: z.infer<typeof params>,
): Promise<Alert> {
  const alert = await read(parts, caller, (sql) => findAlert(sql, caller.providerId, alertRef))
  if (alert === undefined) throw refusals.alertNotFound(alertRef)
  return alert
}

async function newAlertOf(
  parts: ChangeParts,
  caller: Caller,
  { watches, limit, planRef, customerRef, thresholds }: AlertCreateInput,
) {
  const customer =
    customerRef === undefined ? undefined : await requireCustomer(parts, caller, customerRef)
  if (planRef !== undefined) {
    const isKnown = await read(parts, caller, (sql) => planExists(sql, caller.providerId, planRef))
    if (!isKnown) throw refusals.planNotFound(planRef)
    // Checked after both, so that a reference of another provider is answered like an unknown one.
    if (customer !== undefined) {
      throw invalidField('customerRef', 'An alert is for a plan or for a customer, not for both')
    }
  }
  return {
    watches,
    limitKey: limit ?? null,
    planRef: planRef ?? null,
    customerRef: customer?.reference ?? null,
    thresholds: thresholds.map(thresholdFields),
  }
}

function alertToHttp(alert: Alert): AlertBody {
  return {
    reference: alert.reference,
    watches: alert.watches,
    ...definedFields({
      limit: alert.limitKey,
      planRef: alert.planRef,
      customerRef: alert.customerRef,
    }),
    thresholds: [...alert.thresholds],
    createdAt: alert.createdAt.toISOString(),
    updatedAt: alert.updatedAt.toISOString(),
  }
}

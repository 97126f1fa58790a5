import { z } from 'zod'
import { changeMeter } from '@tollgate/domain/meters/change-meter'
import { createMeter } from '@tollgate/domain/meters/create-meter'
import { findMeter, listMeters, type Meter } from '@tollgate/domain/meters/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  meterCreateSchema,
  meterSchema,
  metersResponseSchema,
  meterUpdateSchema,
  type MeterBody,
} from '@tollgate/schemas/http/meters'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'

const params = z.object({ meterRef: requiredReference })
const tags = ['Meters']

export function registerMeterRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    '/v1/ui/meters',
    { schema: { tags, response: { 200: metersResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const meters = await read(parts, caller, (sql) => listMeters(sql, caller.providerId))
      return { meters: meters.map(meterToHttp) }
    },
  )

  app.post(
    '/v1/ui/meters',
    { schema: { tags, body: meterCreateSchema, response: { 201: meterSchema } } },
    async (request, reply) => {
      const { body } = request
      const meter = await commit(parts, operationOf(request, parts.clock), (work) =>
        createMeter(work, {
          name: body.name,
          displayName: body.displayName ?? body.name,
          description: body.description ?? null,
          aggregation: body.aggregation,
          unit: body.unit ?? 'units',
        }),
      )
      if (meter === undefined) throw refusals.meterNameTaken(body.name)
      return reply.code(201).send(meterToHttp(meter))
    },
  )

  app.get(
    '/v1/ui/meters/:meterRef',
    { schema: { tags, params, response: { 200: meterSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { meterRef } = request.params
      const meter = await read(parts, caller, (sql) => findMeter(sql, caller.providerId, meterRef))
      if (meter === undefined) throw refusals.meterNotFound(meterRef)
      return meterToHttp(meter)
    },
  )

  app.patch(
    '/v1/ui/meters/:meterRef',
    { schema: { tags, params, body: meterUpdateSchema, response: { 200: meterSchema } } },
    async (request) => {
      const { meterRef } = request.params
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        changeMeter(work, meterRef, request.body),
      )
      switch (outcome.kind) {
        case 'meter':
          return meterToHttp(outcome.meter)
        case 'not-found':
          throw refusals.meterNotFound(meterRef)
        case 'permanent':
          throw refusals.meterPermanent(outcome.meter.name)
      }
    },
  )
}

function meterToHttp(meter: Meter): MeterBody {
  return {
    reference: meter.reference,
    name: meter.name,
    displayName: meter.displayName,
    aggregation: meter.aggregation,
    unit: meter.unit,
    status: meter.status,
    ...definedFields({ description: meter.description }),
  }
}

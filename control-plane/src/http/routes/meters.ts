import type { MeterReading, ModelCostReading } from '@tollgate/schemas/meter-reading'
import { z } from 'zod'
import { changeMeter, type MeterChange } from '@tollgate/domain/meters/change-meter'
import { createMeter } from '@tollgate/domain/meters/create-meter'
import {
  findMeter,
  listMeters,
  type Meter,
  type MeterReads,
} from '@tollgate/domain/meters/repository'
import { recordsUnpriced } from '@tollgate/domain/model-costs/records-unpriced'
import { isListedVendor } from '@tollgate/domain/model-costs/price-list'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  faultsOfModelCost,
  modelCostReadingOf,
  modelCostToHttp,
  type ModelCostInput,
} from '@tollgate/schemas/http/model-costs'
import {
  faultsOfReading,
  meterCreateSchema,
  meterSchema,
  metersResponseSchema,
  meterUpdateSchema,
  pointersOf,
  type MeterBody,
  type MeterCreateInput,
  type MeterUpdateInput,
} from '@tollgate/schemas/http/meters'
import { toolMeterPrefix } from '@tollgate/schemas/http/mcp'
import {
  metersPerEventTypeMax,
  meterReadingsCharsMax,
  readingMetersMax,
} from '@tollgate/schemas/limits'
import { InvalidRequestError, invalidField, refusals } from '../../errors.ts'
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

  registerMeterChanges(app, parts)
}

function registerMeterChanges(app: ApiServer, parts: ChangeParts): void {
  app.post(
    '/v1/ui/meters',
    { schema: { tags, body: meterCreateSchema, response: { 201: meterSchema } } },
    async (request, reply) => {
      const { body } = request
      const reading = readingOf(body)
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        createMeter(work, {
          name: body.name,
          displayName: body.displayName ?? body.name,
          description: body.description ?? null,
          aggregation: body.aggregation,
          unit: body.unit ?? 'units',
          reading,
        }),
      )
      switch (outcome.kind) {
        case 'meter':
          return reply.code(201).send(meterToHttp(outcome.meter))
        case 'name-taken':
          throw refusals.meterNameTaken(body.name)
        case 'too-many-readers':
          throw tooManyReaders(reading?.type)
        case 'too-much-read':
          throw tooMuchRead()
      }
    },
  )

  app.patch(
    '/v1/ui/meters/:meterRef',
    { schema: { tags, params, body: meterUpdateSchema, response: { 200: meterSchema } } },
    async (request) => {
      const { meterRef } = request.params
      const { event, value, dimensions, modelCost, ...change } = request.body
      const changeReading = readingChange({ event, value, dimensions, modelCost })
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        changeMeter(work, meterRef, { ...change, changeReading }),
      )
      switch (outcome.kind) {
        case 'meter':
          return meterToHttp(outcome.meter)
        case 'not-found':
          throw refusals.meterNotFound(meterRef)
        case 'permanent':
          throw refusals.meterPermanent(outcome.meter.name)
        case 'reads-no-events':
          throw invalidField(
            'event',
            `Meter ${outcome.meter.name} counts the calls that name it. Create another meter that reads events`,
          )
        case 'too-many-readers':
          throw tooManyReaders(outcome.meter.reads?.reading.type)
        case 'too-much-read':
          throw tooMuchRead()
        case 'charged':
          throw refusals.meterCharged(outcome.meter.name, outcome.plans)
      }
    },
  )
}

function readingOf(body: MeterCreateInput): MeterReading | null {
  const { event, aggregation } = body
  if (event === undefined) return null
  if (body.name.startsWith(toolMeterPrefix)) {
    throw invalidField('event', `Meters of tools, named ${toolMeterPrefix}…, cannot read events`)
  }
  const modelCost = body.modelCost && costReadingOf(body.name, body.modelCost)
  return {
    aggregation,
    type: event.type,
    where: event.where ?? {},
    value: pointersOf(body.value),
    dimensions: withPriceDimension(body.dimensions ?? [], modelCost),
    ...definedFields({ modelCost }),
  }
}

type ReadingFields = Pick<MeterUpdateInput, 'event' | 'value' | 'dimensions' | 'modelCost'>

/** Returns how the fields change what a meter reads, or undefined if none is given. Absent fields stay unchanged. */
function readingChange({
  event,
  value,
  dimensions,
  modelCost: given,
}: ReadingFields): MeterChange['changeReading'] {
  if ([event, value, dimensions, given].every((field) => field === undefined)) return undefined
  return (reading, name) => {
    const modelCost = given === undefined ? reading.modelCost : costReadingOf(name, given)
    const changed: MeterReading = {
      aggregation: reading.aggregation,
      type: event?.type ?? reading.type,
      where: event === undefined ? reading.where : (event.where ?? {}),
      value: value === undefined ? reading.value : pointersOf(value ?? undefined),
      dimensions: withPriceDimension(dimensions ?? reading.dimensions, modelCost),
      ...definedFields({ modelCost }),
    }
    const { aggregation } = changed
    const fields = {
      ...changed,
      event: changed.type,
      value: changed.value.length > 0 ? changed.value : undefined,
    }
    const faults = [
      ...faultsOfReading(fields, aggregation),
      ...(modelCost === undefined
        ? []
        : faultsOfModelCost({ ...fields, name, modelCost: modelCostToHttp(modelCost) })),
    ]
    if (given !== undefined && reading.modelCost === undefined) {
      const message =
        'This meter counts something else. Create another meter for the cost of models'
      faults.push({ path: ['modelCost'], message })
    }
    if (modelCost !== undefined && startsToRecordUnpriced(reading.modelCost, modelCost)) {
      const message =
        'Plans may charge this meter, and calls of models without a price would be free. Keep `refuse` or the price of the model "*"'
      faults.push({ path: ['modelCost', 'unknownModel'], message })
    }
    if (faults.length > 0) {
      throw new InvalidRequestError(
        faults.map(({ path, message }) => ({ code: 'custom', path: [...path], message })),
      )
    }
    return changed
  }
}

/** Refuses a vendor that the price list does not have, which is probably a misspelling. */
function costReadingOf(meterName: string, input: ModelCostInput): ModelCostReading {
  if (input.provider !== undefined && !isListedVendor(input.provider)) {
    throw invalidField('modelCost', `The price list has no vendor ${input.provider}`)
  }
  return modelCostReadingOf(meterName, input)
}

function startsToRecordUnpriced(
  before: ModelCostReading | undefined,
  after: ModelCostReading,
): boolean {
  return before !== undefined && !recordsUnpriced(before) && recordsUnpriced(after)
}

/** A meter of model costs has one more dimension: how the cost of a record was computed. */
function withPriceDimension(
  dimensions: readonly string[],
  modelCost: ModelCostReading | undefined,
): readonly string[] {
  if (modelCost === undefined || dimensions.includes(modelCost.priceDimension)) return dimensions
  return [...dimensions, modelCost.priceDimension]
}

function tooManyReaders(type = ''): InvalidRequestError {
  return invalidField(
    'event',
    `At most ${metersPerEventTypeMax} active meters can read events of type ${type}`,
  )
}

function tooMuchRead(): InvalidRequestError {
  return invalidField(
    'event',
    `At most ${readingMetersMax} active meters can read events, with ${meterReadingsCharsMax} characters of JSON together. Archive meters that you no longer use`,
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
    ...(meter.reads !== null && readsToHttp(meter.reads)),
  }
}

function readsToHttp({ reading, version, since }: MeterReads) {
  const { type, where, value, dimensions, modelCost } = reading
  const filter = Object.fromEntries(
    Object.entries(where).map(([name, values]) => [name, [...values]]),
  )
  return {
    event: { type, ...(Object.keys(where).length > 0 && { where: filter }) },
    ...(value.length > 0 && { value: value.length === 1 ? value[0]! : [...value] }),
    ...(dimensions.length > 0 && { dimensions: [...dimensions] }),
    ...(modelCost !== undefined && { modelCost: modelCostToHttp(modelCost) }),
    version,
    since: since.toISOString(),
  }
}

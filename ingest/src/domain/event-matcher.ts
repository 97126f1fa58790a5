import type { Aggregation, FilterValue, MeterReading } from '@tollgate/schemas/meter-reading'
import type { PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { dimensionCharsMax } from '@tollgate/schemas/limits'
import type { EventCount } from '@tollgate/schemas/meter-event'
import { unpricedSource } from '@tollgate/schemas/http/model-costs'
import { pathOfProperty, valueAt, type PropertyPath } from '@tollgate/schemas/property-path'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { isIssue, issueOf, propertyOf, sumOfValues, type Property } from './event-values.ts'
import { ModelCostMeter } from './model-cost-meter.ts'

/** The counts of one event on the meters that read it. */
export type Matched = {
  readonly counts: readonly EventCount[]
  /** Values of all dimensions that the counting meters declare. */
  readonly dimensions: Readonly<Record<string, string>>
}

export type ReadEvent = {
  readonly type: string
  /** The value of the call itself, in 10^-6 units. */
  readonly value: number
  /** Time of the usage in Unix milliseconds. Prices of models depend on it. */
  readonly timestamp: number
  readonly properties: JsonObject
}

type CompiledMeter = {
  readonly name: string
  readonly aggregation: Aggregation
  readonly filters: readonly Filter[]
  readonly values: readonly Property[]
  readonly dimensions: readonly Property[]
  /** Present for a meter that counts what calls of models cost. */
  readonly modelCost: ModelCostMeter | undefined
}

type Filter = { readonly path: PropertyPath; readonly values: ReadonlySet<unknown> }

export type UnpricedCount = { unpricedCalls: number }

const nothing: Matched = { counts: [], dimensions: {} }

/** The meters of a provider that read events, prepared once for all events. Only its count of unpriced calls changes. */
export class EventMatcher {
  readonly #meters: ReadonlyMap<string, readonly CompiledMeter[]>
  readonly #unpriced: UnpricedCount

  /** `unpriced` counts calls of models that have no price, including repeated requests. */
  constructor({ meters }: PublishedMeters, unpriced: UnpricedCount = { unpricedCalls: 0 }) {
    this.#unpriced = unpriced
    const byType = new Map<string, CompiledMeter[]>()
    for (const [name, { status, reads }] of Object.entries(meters)) {
      if (status !== 'active' || reads === undefined) continue
      const meter = compile(name, reads)
      const ofType = byType.get(reads.type)
      if (ofType === undefined) byType.set(reads.type, [meter])
      else ofType.push(meter)
    }
    this.#meters = byType
  }

  /** Returns whether a meter may count events of the type. */
  reads(type: string): boolean {
    return this.#meters.has(type)
  }

  /**
   * Returns what the event counts, or the issue of a property that a meter cannot use. The issue's path starts at the properties.
   * The outcome of the event is ignored: an event that failed has the same counts, which no counter adds.
   */
  match(event: ReadEvent): Matched | ValidationIssue {
    const meters = this.#meters.get(event.type)
    if (meters === undefined) return nothing
    const counts: EventCount[] = []
    const dimensions: Record<string, string> = {}
    let sources: Record<string, string> | undefined
    for (const meter of meters) {
      if (!passes(meter.filters, event.properties)) continue
      const cost = meter.modelCost?.costOf(event)
      if (cost !== undefined && isIssue(cost)) return cost
      const count = meter.modelCost === undefined ? countOn(meter, event) : cost?.count
      if (count === undefined) continue
      if (isIssue(count)) return count
      const issue = addDimensions(dimensions, meter, event.properties)
      if (issue !== undefined) return issue
      counts.push(count)
      if (cost === undefined) continue
      sources = { ...sources, [meter.modelCost!.priceDimension]: cost.source }
      if (cost.source === unpricedSource) this.#unpriced.unpricedCalls += 1
    }
    // Sources come last, so that no property of an event can take the name of their dimension.
    if (sources !== undefined) Object.assign(dimensions, sources)
    return counts.length === 0 ? nothing : { counts, dimensions }
  }
}

/** Counts nothing. For providers whose meters only count calls that name them. */
export const noEventMatcher = new EventMatcher({ meters: {} })

function compile(name: string, reading: MeterReading): CompiledMeter {
  const { aggregation, where, value, dimensions, modelCost } = reading
  const filters = Object.entries(where).map(
    ([property, values]: [string, readonly FilterValue[]]) => ({
      path: pathOfProperty(property),
      values: new Set<unknown>(values),
    }),
  )
  return {
    name,
    aggregation,
    filters,
    values: value.map(propertyOf),
    // The event has no such property: it is how the cost was computed.
    dimensions: dimensions.filter((each) => each !== modelCost?.priceDimension).map(propertyOf),
    modelCost: modelCost && new ModelCostMeter(name, modelCost),
  }
}

function passes(filters: readonly Filter[], properties: JsonObject): boolean {
  return filters.every(({ path, values }) => values.has(valueAt(properties, path)))
}

/** Returns undefined if the event has none of the values that the meter adds. */
function countOn(meter: CompiledMeter, event: ReadEvent): EventCount | ValidationIssue | undefined {
  const { name: meterName, aggregation, values } = meter
  if (aggregation === 'count') return { meterName, value: microsPerUnit, text: null }
  if (values.length === 0) return { meterName, value: event.value, text: null }
  if (aggregation === 'unique') return distinctOn(meter, event.properties)
  const sum = sumOfValues(meterName, values, event.properties)
  if (typeof sum === 'object') return sum
  return sum === undefined ? undefined : { meterName, value: sum, text: null }
}

function distinctOn(
  meter: CompiledMeter,
  properties: JsonObject,
): EventCount | ValidationIssue | undefined {
  const [property] = meter.values
  const value = valueAt(properties, property!.path)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' && typeof value !== 'number') {
    return issueOf(meter.name, property!, 'expected a text or a number')
  }
  const text = String(value)
  if (text.length > dimensionCharsMax) return issueOf(meter.name, property!, tooLong)
  return { meterName: meter.name, value: microsPerUnit, text }
}

function addDimensions(
  dimensions: Record<string, string>,
  meter: CompiledMeter,
  properties: JsonObject,
): ValidationIssue | undefined {
  for (const property of meter.dimensions) {
    const value = valueAt(properties, property.path)
    if (value === undefined || value === null) continue
    const text = textOf(value)
    if (text === undefined) {
      return issueOf(meter.name, property, 'a dimension must be a text, a number or a boolean')
    }
    if (text.length > dimensionCharsMax) return issueOf(meter.name, property, tooLong)
    dimensions[property.name] = text
  }
  return undefined
}

/** Returns a JSON scalar as text, or undefined for objects and lists. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

const tooLong = `at most ${dimensionCharsMax} characters are allowed`

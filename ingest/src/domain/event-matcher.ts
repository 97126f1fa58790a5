import type { Aggregation, FilterValue, MeterReading } from '@tollgate/schemas/meter-reading'
import type { PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { dimensionCharsMax, quantityMax } from '@tollgate/schemas/limits'
import type { EventCount } from '@tollgate/schemas/meter-event'
import { pathOfProperty, valueAt, type PropertyPath } from '@tollgate/schemas/property-path'
import { microsFromNumber, microsPerUnit } from '@tollgate/schemas/quantity'

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
  readonly properties: JsonObject
}

type CompiledMeter = {
  readonly name: string
  readonly aggregation: Aggregation
  readonly filters: readonly Filter[]
  readonly values: readonly Property[]
  readonly dimensions: readonly Property[]
}

type Property = { readonly name: string; readonly path: PropertyPath }

type Filter = { readonly path: PropertyPath; readonly values: ReadonlySet<unknown> }

const nothing: Matched = { counts: [], dimensions: {} }

/** The meters of a provider that read events, prepared once for all events. It has no state that changes. */
export class EventMatcher {
  readonly #meters: ReadonlyMap<string, readonly CompiledMeter[]>

  constructor({ meters }: PublishedMeters) {
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
    for (const meter of meters) {
      if (!passes(meter.filters, event.properties)) continue
      const count = countOn(meter, event)
      if (count === undefined) continue
      if (isIssue(count)) return count
      const issue = addDimensions(dimensions, meter, event.properties)
      if (issue !== undefined) return issue
      counts.push(count)
    }
    return counts.length === 0 ? nothing : { counts, dimensions }
  }
}

/** Counts nothing. For providers whose meters only count calls that name them. */
export const noEventMatcher = new EventMatcher({ meters: {} })

function compile(name: string, reading: MeterReading): CompiledMeter {
  const { aggregation, where, value, dimensions } = reading
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
    dimensions: dimensions.map(propertyOf),
  }
}

function propertyOf(name: string): Property {
  return { name, path: pathOfProperty(name) }
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
  let sum: number | undefined
  for (const property of values) {
    const value = valueAt(event.properties, property.path)
    if (value === undefined || value === null) continue
    const micros = microsOf(value)
    if (micros === undefined) return issueOf(meter, property, quantityMessage)
    // Up to 8 values of at most 9e15 can exceed the safe integers, so the sum is checked after each of them.
    sum = (sum ?? 0) + micros
    if (Math.abs(sum) > quantityMax * microsPerUnit) {
      return issueOf(meter, property, `the sum must be between -${quantityMax} and ${quantityMax}`)
    }
  }
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
    return issueOf(meter, property!, 'expected a text or a number')
  }
  const text = String(value)
  if (text.length > dimensionCharsMax) return issueOf(meter, property!, tooLong)
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
      return issueOf(meter, property, 'a dimension must be a text, a number or a boolean')
    }
    if (text.length > dimensionCharsMax) return issueOf(meter, property, tooLong)
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
const quantityMessage = `expected a number or decimal text with at most 6 decimals, between -${quantityMax} and ${quantityMax}`

const decimalPattern = /^-?\d{1,10}(?:\.\d{1,6})?$/

/** Returns the 10^-6 units of a JSON number or a decimal text, or undefined for all other values. */
function microsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return microsFromNumber(value)
  if (typeof value !== 'string' || !decimalPattern.test(value)) return undefined
  const [whole, fraction = ''] = value.split('.') as [string, string?]
  const micros = Number(`${whole}${fraction.padEnd(6, '0')}`)
  // Adding 0 turns -0 into 0.
  return Math.abs(micros) <= quantityMax * microsPerUnit ? micros + 0 : undefined
}

function issueOf(meter: CompiledMeter, property: Property, message: string): ValidationIssue {
  return {
    code: 'custom',
    path: [...property.path],
    message: `Meter ${meter.name} cannot use ${property.name}: ${message}`,
  }
}

export function isIssue<Value extends object>(
  value: Value | ValidationIssue,
): value is ValidationIssue {
  return 'message' in value
}

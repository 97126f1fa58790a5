import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { quantityMax } from '@tollgate/schemas/limits'
import { pathOfProperty, valueAt, type PropertyPath } from '@tollgate/schemas/property-path'
import { microsFromNumber, microsPerUnit } from '@tollgate/schemas/quantity'

/* What meters read from the properties of an event. */

export type Property = { readonly name: string; readonly path: PropertyPath }

export function propertyOf(name: string): Property {
  return { name, path: pathOfProperty(name) }
}

export const quantityMicrosMax = quantityMax * microsPerUnit

/**
 * Returns the sum of the values in 10^-6 units, undefined if the event has none of them, or the issue of a value that is no
 * quantity.
 */
export function sumOfValues(
  meterName: string,
  values: readonly Property[],
  properties: JsonObject,
): number | ValidationIssue | undefined {
  let sum: number | undefined
  for (const property of values) {
    const value = valueAt(properties, property.path)
    if (value === undefined || value === null) continue
    const micros = microsOf(value)
    if (micros === undefined) return issueOf(meterName, property, quantityMessage)
    // Up to 8 values of at most 9e15 can exceed the safe integers, so the sum is checked after each of them.
    sum = (sum ?? 0) + micros
    if (Math.abs(sum) > quantityMicrosMax) {
      return issueOf(
        meterName,
        property,
        `the sum must be between -${quantityMax} and ${quantityMax}`,
      )
    }
  }
  return sum
}

const quantityMessage = `expected a number or decimal text with at most 6 decimals, between -${quantityMax} and ${quantityMax}`

const decimalPattern = /^-?\d{1,10}(?:\.\d{1,6})?$/

/** Returns the 10^-6 units of a JSON number or a decimal text, or undefined for all other values. */
function microsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return microsFromNumber(value)
  if (typeof value !== 'string' || !decimalPattern.test(value)) return undefined
  const [whole, fraction = ''] = value.split('.') as [string, string?]
  const micros = Number(`${whole}${fraction.padEnd(6, '0')}`)
  // Adding 0 turns -0 into 0.
  return Math.abs(micros) <= quantityMicrosMax ? micros + 0 : undefined
}

export function issueOf(meterName: string, property: Property, message: string): ValidationIssue {
  return {
    code: 'custom',
    path: [...property.path],
    message: `Meter ${meterName} cannot use ${property.name}: ${message}`,
  }
}

export function isIssue<Value extends object>(
  value: Value | ValidationIssue,
): value is ValidationIssue {
  return 'message' in value
}

import type { DebitTerms, EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import { passesFilter } from '../plans/match-dimensions.ts'
import { highestRatePicos, ratePicos } from './charge-debits.ts'

/*
 * What a unit of a meter can cost at most. Several charges of a meter add up if one event can pass the filters of all of them. Of
 * charges and rows that exclude each other, the highest counts. Holds and checks use this, so that they agree with debits.
 */

/** Rates by the list of charges. Published documents are parsed once and shared, so most calls find theirs here. */
const known = new WeakMap<readonly EntitledCharge[], Map<string, bigint>>()

/** Returns the most that one unit of the meter can cost over all charges, in 10^-12 credits. */
export function highestMeterPicos(charges: readonly EntitledCharge[], meterName: string): bigint {
  let rates = known.get(charges)
  if (rates === undefined) {
    rates = new Map()
    known.set(charges, rates)
  }
  let highest = rates.get(meterName)
  if (highest === undefined) {
    const debits = charges.flatMap((each) =>
      each.meterName === meterName ? (each.debit ?? []) : [],
    )
    highest = highestSum(debits)
    rates.set(meterName, highest)
  }
  return highest
}

const attosPerMicro = 1_000_000_000_000n

/** Returns the most that units can cost, in 10^-6 credits, rounded up. `units` is by meter, in 10^-6. */
export function highestDebitMicros(
  charges: readonly EntitledCharge[],
  units: ReadonlyMap<string, bigint>,
): bigint {
  let attos = 0n
  for (const [meterName, of] of units) attos += of * highestMeterPicos(charges, meterName)
  return (attos + attosPerMicro - 1n) / attosPerMicro
}

/** Comparisons of rows that one plan may cost. With more, the sum of the highest rates of all charges is the bound. */
const comparisonsMax = 20_000

function highestSum(debits: readonly DebitTerms[]): bigint {
  const values = valuesByDimension(debits)
  const assignments = values.reduce((product, [, list]) => product * list.length, 1)
  const rows = debits.reduce((sum, { rows = [] }) => sum + 1 + rows.length, 0)
  if (assignments * rows > comparisonsMax) {
    return debits.reduce((sum, debit) => sum + highestRatePicos(debit), 0n)
  }
  let highest = 0n
  for (let number = 0; number < assignments; number += 1) {
    const cost = costOf(debits, assignment(values, number))
    if (cost > highest) highest = cost
  }
  return highest
}

function costOf(
  debits: readonly DebitTerms[],
  dimensions: Readonly<Record<string, string>>,
): bigint {
  return debits.reduce((sum, debit) => {
    if (debit.where !== undefined && !passesFilter(debit.where, dimensions)) return sum
    return sum + ratePicos(debit, dimensions)
  }, 0n)
}

/** A value that charges name, or undefined for any other value: no filter and no row has it. */
type Value = string | undefined

/** Returns the values of each dimension between which the charges distinguish. */
function valuesByDimension(debits: readonly DebitTerms[]): [string, readonly Value[]][] {
  const named = new Map<string, Set<Value>>()
  const add = (name: string, value: string): void => {
    named.set(name, (named.get(name) ?? new Set<Value>([undefined])).add(value))
  }
  for (const { where = {}, rows = [] } of debits) {
    for (const [name, values] of Object.entries(where)) for (const value of values) add(name, value)
    for (const { when } of rows) {
      for (const [name, value] of Object.entries(when)) add(name, value)
    }
  }
  return Array.from(named, ([name, values]) => [name, [...values]])
}

/** Returns the dimensions of the event with this number: its digits choose the values. */
function assignment(
  values: readonly (readonly [string, readonly Value[]])[],
  number: number,
): Record<string, string> {
  let rest = number
  const chosen: [string, string][] = []
  for (const [name, list] of values) {
    const value = list[rest % list.length]
    rest = Math.floor(rest / list.length)
    if (value !== undefined) chosen.push([name, value])
  }
  return Object.fromEntries(chosen)
}

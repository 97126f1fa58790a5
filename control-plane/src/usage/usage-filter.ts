import type { UsageFilter } from '@tollgate/schemas/http/usage-query'
import type { FilterValue } from '@tollgate/schemas/meter-reading'
import { pathOfProperty } from '@tollgate/schemas/property-path'

/** A condition with the parameters that it names. */
export type Condition = {
  readonly text: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/**
 * Returns the condition that a record has one of the values of every property. The properties of `dimensions` are read from the
 * stored dimensions, where every value is text and a missing one is empty. All others are read from the JSON of the call. `firstAt`: the
 * number of properties in other conditions of the same query, so that no two parameters have one name.
 */
export function filterCondition(
  filter: UsageFilter,
  dimensions: readonly string[],
  firstAt = 0,
): Condition {
  const conditions = Object.entries(filter).map(([property, values], index) => {
    const at = firstAt + index
    return dimensions.includes(property)
      ? ofDimension(property, values, at)
      : ofProperty(property, values, at)
  })
  return {
    text: conditions.map(({ text }) => ` AND ${text}`).join(''),
    parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)) as Record<
      string,
      unknown
    >,
  }
}

function ofDimension(name: string, values: readonly FilterValue[], at: number): Condition {
  return {
    text: `dimensions[{filter${at}:String}] IN {texts${at}:Array(String)}`,
    parameters: { [`filter${at}`]: name, [`texts${at}`]: values.map(String) },
  }
}

/** The number 1 and the text `1` differ, so that each type of JSON is compared apart. */
function ofProperty(name: string, values: readonly FilterValue[], at: number): Condition {
  const path = pathOfProperty(name)
  const place = ['properties', ...path.map((_, step) => `{path${at}_${step}:String}`)].join(', ')
  const type = `toString(JSONType(${place}))`
  const texts = values.filter((value) => typeof value === 'string')
  const numbers = values.filter((value) => typeof value === 'number')
  const booleans = values.filter((value) => typeof value === 'boolean').map(Number)
  const alternatives = [
    ...(texts.length === 0
      ? []
      : [`${type} = 'String' AND JSONExtractString(${place}) IN {texts${at}:Array(String)}`]),
    ...(numbers.length === 0
      ? []
      : [
          `${type} IN ('Int64', 'UInt64', 'Double') AND JSONExtractFloat(${place}) IN {numbers${at}:Array(Float64)}`,
        ]),
    ...(booleans.length === 0
      ? []
      : [
          `${type} = 'Bool' AND toUInt8(JSONExtractBool(${place})) IN {booleans${at}:Array(UInt8)}`,
        ]),
  ]
  return {
    text: `(${alternatives.map((alternative) => `(${alternative})`).join(' OR ')})`,
    parameters: {
      ...Object.fromEntries(path.map((part, step) => [`path${at}_${step}`, part])),
      ...(texts.length > 0 && { [`texts${at}`]: texts }),
      ...(numbers.length > 0 && { [`numbers${at}`]: numbers }),
      ...(booleans.length > 0 && { [`booleans${at}`]: booleans }),
    },
  }
}

import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { gateSchema } from './paywall.ts'

/**
 * Returns an output schema that accepts a paywall and everything that the tool's own schema accepts. Clients reject structured
 * content that does not match the listed schema, and require `type: object` at its root.
 */
export function widenOutputSchema(schema: JsonObject): JsonObject {
  const { $schema, ...own } = schema
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    anyOf: [isBase(schema) ? own : moveReferences(own), gateSchema],
  }
}

/** JSON pointer from the root to the tool's own schema in the widened schema. */
const place = '#/anyOf/0'

/**
 * Returns whether a schema has an identifier. References inside such a schema resolve against the identifier, wherever the schema
 * is.
 */
function isBase({ $id, id }: JsonObject): boolean {
  return typeof ($id ?? id) === 'string'
}

/** Keywords whose value is a schema or a list of schemas. */
const schemaKeywords: ReadonlySet<string> = new Set([
  ...[
    'additionalItems',
    'additionalProperties',
    'allOf',
    'anyOf',
    'contains',
    'contentSchema',
    'else',
  ],
  ...['if', 'items', 'not', 'oneOf', 'prefixItems', 'propertyNames', 'then'],
  ...['unevaluatedItems', 'unevaluatedProperties'],
])

/** Keywords whose value maps names to schemas. */
const namedSchemaKeywords: ReadonlySet<string> = new Set([
  ...[
    '$defs',
    'definitions',
    'dependencies',
    'dependentSchemas',
    'patternProperties',
    'properties',
  ],
])

/**
 * Changes references to the root and paths from the root, so that they resolve to the same schema in its new position. References
 * to names (`#name`) need no change.
 */
function moveReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return (schema as unknown[]).map(moveReferences)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(
    ([keyword, value]: [string, unknown]): [string, unknown] => {
      if (keyword === '$ref') return [keyword, moveReference(value)]
      if (schemaKeywords.has(keyword)) return [keyword, moveUnlessBase(value)]
      if (namedSchemaKeywords.has(keyword)) return [keyword, moveNamed(value)]
      return [keyword, value]
    },
  )
  return Object.fromEntries(members)
}

function moveUnlessBase(schema: unknown): unknown {
  return isPlainObject(schema) && isBase(schema) ? schema : moveReferences(schema)
}

function moveNamed(schemas: unknown): unknown {
  if (!isPlainObject(schemas)) return schemas
  const entries = Object.entries(schemas).map(([name, schema]) => [name, moveUnlessBase(schema)])
  return Object.fromEntries(entries) as JsonObject
}

function moveReference(reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return reference
  return place + reference.slice(1)
}

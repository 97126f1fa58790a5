import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { gateSchema } from './paywall.ts'

/**
 * Returns an output schema that accepts what the tool's own accepts, and a paywall. Clients refuse structured content that does
 * not match the schema of the list, and require `type: object` at its root.
 */
export function widenOutputSchema(schema: JsonObject): JsonObject {
  const { $schema, ...own } = schema
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    anyOf: [isBase(schema) ? own : moveReferences(own), gateSchema],
  }
}

/** Where the schema now is, seen from the root. */
const place = '#/anyOf/0'

/** A schema with an identifier is the base of the references in it, wherever it is. */
function isBase({ $id, id }: JsonObject): boolean {
  return typeof ($id ?? id) === 'string'
}

/** Keywords that hold one schema, or a list of them. */
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

/** Keywords that hold schemas by name. */
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

/** References to the root, and paths from it, lead to the same schema at its new place. Names (`#name`) do so by themselves. */
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

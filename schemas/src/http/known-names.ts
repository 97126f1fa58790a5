import { z } from 'zod'
import { bulkRecordsMax } from '../limits.ts'

/** A schema of a body that is parsed as `Input`. */
export type BodySchema<Input> = z.ZodType<Input>

/**
 * The names that a schema knows, at every level. Undefined where any name is accepted, as in metadata. A choice stands for a union
 * of schemas.
 */
export type KnownNames =
  | { readonly kind: 'object'; readonly fields: KnownFields }
  | { readonly kind: 'list'; readonly items: KnownNames }
  | { readonly kind: 'choice'; readonly options: readonly KnownNames[] }

type KnownFields = ReadonlyMap<string, KnownNames | null>

const ignoredNames = z.registry<{ readonly names: readonly string[] }>()

/**
 * Declares fields that published clients send although the operation does not use them. They cause no warning, and the schema still
 * drops them.
 */
export function ignoring<Schema extends z.ZodObject>(schema: Schema, ...names: string[]): Schema {
  ignoredNames.add(schema, { names })
  return schema
}

/** Returns the names that `schema` knows, or undefined if it accepts any. Call it once per schema. */
export function knownNamesOf(schema: z.ZodType): KnownNames | undefined {
  if (schema instanceof z.ZodObject) return knownFieldsOf(schema)
  if (schema instanceof z.ZodArray) {
    const items = knownNamesOf(schema.element as z.ZodType)
    return items && { kind: 'list', items }
  }
  if (schema instanceof z.ZodUnion) {
    const objects = (schema.options as z.ZodType[]).filter((option) => !isNameless(option))
    const options = objects.map(knownNamesOf)
    const named = options.filter((option) => option !== undefined)
    // An option that accepts any name makes every name known.
    const isOpen = named.length < options.length || named.length === 0
    return isOpen ? undefined : { kind: 'choice', options: named }
  }
  if (schema instanceof z.ZodPipe) return knownNamesOf(schema.in as z.ZodType)
  const inner = innerOf(schema)
  return inner && knownNamesOf(inner)
}

function knownFieldsOf(schema: z.ZodObject): KnownNames | undefined {
  const { catchall } = schema.def
  if (catchall !== undefined && !(catchall instanceof z.ZodNever)) return undefined
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    return [name, knownNamesOf(field as z.ZodType) ?? null] as const
  })
  const ignored = (ignoredNames.get(schema)?.names ?? []).map((name) => [name, null] as const)
  return { kind: 'object', fields: new Map([...ignored, ...fields]) }
}

const namelessTypes: ReadonlySet<string> = new Set([
  'bigint',
  'boolean',
  'enum',
  'literal',
  'null',
  'number',
  'string',
  'undefined',
])

/** Returns whether the schema accepts no object and therefore has no names. */
function isNameless(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodArray) return isNameless(schema.element as z.ZodType)
  if (schema instanceof z.ZodPipe) return isNameless(schema.in as z.ZodType)
  const inner = innerOf(schema)
  return inner === undefined ? namelessTypes.has(schema.def.type) : isNameless(inner)
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodNonOptional
  ) {
    return schema.unwrap() as z.ZodType
  }
  return undefined
}

/** Number of list items that are searched. A schema refuses a longer list, so the rest of the list is never used. */
const listItemsSearched = bulkRecordsMax

/**
 * Returns whether the schema knows every name in `value`. It is on the path of every usage call, so it allocates nothing and checks
 * each name once.
 */
export function hasOnlyKnownNames(known: KnownNames, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  switch (known.kind) {
    case 'object': {
      if (Array.isArray(value)) return true
      const { fields } = known
      for (const name in value) {
        const inner = fields.get(name)
        if (inner === undefined) return false
        if (inner !== null && !hasOnlyKnownNames(inner, (value as Fields)[name])) return false
      }
      return true
    }
    case 'list':
      if (!Array.isArray(value)) return true
      for (let index = 0; index < value.length && index < listItemsSearched; index++) {
        if (!hasOnlyKnownNames(known.items, value[index])) return false
      }
      return true
    case 'choice':
      return known.options.some((option) => hasOnlyKnownNames(option, value))
  }
}

type Fields = Readonly<Record<string, unknown>>

type Path = readonly (string | number)[]

/**
 * `fields` has the names that are known at this place. It is the same map for each item of a list, and differs between places.
 * `path` is changed after the call.
 */
type Report = (path: Path, name: string, fields: KnownFields) => boolean

/** Calls `report` with each unknown name until it returns false. Returns whether it never returned false. */
export function visitUnknownNames(
  known: KnownNames,
  value: unknown,
  report: Report,
  path: (string | number)[] = [],
): boolean {
  if (typeof value !== 'object' || value === null) return true
  switch (known.kind) {
    case 'object':
      return Array.isArray(value) || visitFields(known.fields, value, report, path)
    case 'list': {
      if (!Array.isArray(value)) return true
      for (let index = 0; index < value.length && index < listItemsSearched; index++) {
        path.push(index)
        const shouldContinue = visitUnknownNames(known.items, value[index], report, path)
        path.pop()
        if (!shouldContinue) return false
      }
      return true
    }
    case 'choice':
      return visitUnknownNames(closestOption(known.options, value), value, report, path)
  }
}

/** Returns the option with the fewest unknown names, which is the one that the client most likely intended. */
function closestOption(options: readonly KnownNames[], value: unknown): KnownNames {
  const counts = options.map((option) => {
    let count = 0
    visitUnknownNames(option, value, () => ++count > 0)
    return count
  })
  return options[counts.indexOf(Math.min(...counts))]!
}

function visitFields(
  fields: KnownFields,
  value: object,
  report: Report,
  path: (string | number)[],
): boolean {
  for (const name in value) {
    const inner = fields.get(name)
    if (inner === undefined) {
      if (!report(path, name, fields)) return false
    } else if (inner !== null) {
      path.push(name)
      const shouldContinue = visitUnknownNames(inner, (value as Fields)[name], report, path)
      path.pop()
      if (!shouldContinue) return false
    }
  }
  return true
}

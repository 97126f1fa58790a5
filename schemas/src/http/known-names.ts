import { z } from 'zod'

/** A schema of a body that is read as `Input`. */
export type BodySchema<Input> = z.ZodType<Input>

/**
 * The names that a schema knows, as deep as it knows them. Undefined: any name is known there, as in metadata. A choice is
 * what several schemas are accepted for.
 */
export type KnownNames =
  | { readonly kind: 'object'; readonly fields: KnownFields }
  | { readonly kind: 'list'; readonly items: KnownNames }
  | { readonly kind: 'choice'; readonly options: readonly KnownNames[] }

type KnownFields = ReadonlyMap<string, KnownNames | null>

/** Returns the names that `schema` knows; undefined if it accepts any. Call once per schema. */
export function knownNamesOf(schema: z.ZodType): KnownNames | undefined {
  if (schema instanceof z.ZodObject) return knownFieldsOf(schema)
  if (schema instanceof z.ZodArray) {
    const items = knownNamesOf(schema.element as z.ZodType)
    return items && { kind: 'list', items }
  }
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.map((option) => knownNamesOf(option as z.ZodType))
    const named = options.filter((option) => option !== undefined)
    return named.length === 0 ? undefined : { kind: 'choice', options: named }
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
  return { kind: 'object', fields: new Map(fields) }
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

/**
 * Returns whether the schema knows every name in `value`. On the path of every usage call: allocates nothing, and looks at
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
      for (const item of value) if (!hasOnlyKnownNames(known.items, item)) return false
      return true
    case 'choice':
      return known.options.some((option) => hasOnlyKnownNames(option, value))
  }
}

type Fields = Readonly<Record<string, unknown>>

type Path = readonly (string | number)[]

/** `fields` has the names that are known in the same place. */
type Report = (path: Path, name: string, fields: KnownFields) => boolean

/** Calls `report` with each unknown name, until it returns false. Returns whether it never did. */
export function visitUnknownNames(
  known: KnownNames,
  value: unknown,
  report: Report,
  path: Path = [],
): boolean {
  if (typeof value !== 'object' || value === null) return true
  switch (known.kind) {
    case 'object':
      return Array.isArray(value) || visitFields(known.fields, value, report, path)
    case 'list': {
      if (!Array.isArray(value)) return true
      return value.every((item, index) =>
        visitUnknownNames(known.items, item, report, [...path, index]),
      )
    }
    case 'choice': {
      if (hasOnlyKnownNames(known, value)) return true
      return visitUnknownNames(known.options[0]!, value, report, path)
    }
  }
}

function visitFields(fields: KnownFields, value: object, report: Report, path: Path): boolean {
  for (const name in value) {
    const inner = fields.get(name)
    if (inner === undefined) {
      if (!report(path, name, fields)) return false
    } else if (inner !== null) {
      const given = (value as Fields)[name]
      if (!visitUnknownNames(inner, given, report, [...path, name])) return false
    }
  }
  return true
}

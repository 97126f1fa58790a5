/** The parts of an Avro record schema that the rules of evolution check. */
export type RecordSchema = {
  readonly fields: readonly RecordField[]
}

export type RecordField = {
  readonly name: string
  readonly type: unknown
  readonly default?: unknown
}

/**
 * Returns why `next` must not replace `previous`. Log records outlive deployments in both directions: a new reader gets old
 * records, and during a rollout an old reader gets new ones. So a field is never removed, renamed or retyped, and a new field has a
 * default. An enumeration may not grow either, because an old reader cannot represent the new symbol.
 */
export function faultsOfEvolution(previous: RecordSchema, next: RecordSchema): string[] {
  const after = new Map(next.fields.map((field) => [field.name, field]))
  const before = new Set(previous.fields.map(({ name }) => name))
  const changed = previous.fields.flatMap((field) => faultsOfField(field, after.get(field.name)))
  const added = next.fields
    .filter((field) => !before.has(field.name) && field.default === undefined)
    .map(({ name }) => `${name} is new and has no default`)
  return [...changed, ...added]
}

function faultsOfField(field: RecordField, after: RecordField | undefined): string[] {
  if (after === undefined) return [`${field.name} was removed`]
  if (JSON.stringify(after.type) !== JSON.stringify(field.type)) {
    return [`${field.name} was retyped`]
  }
  if (JSON.stringify(after.default) !== JSON.stringify(field.default)) {
    return [`${field.name} got another default`]
  }
  return []
}

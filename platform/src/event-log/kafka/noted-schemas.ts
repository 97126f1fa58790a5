import { isDeepStrictEqual } from 'node:util'
import avro from 'avsc'
import type { Logger } from '../../observability/logger.ts'
import type { SchemaRegistry } from '../../schema-registry/schema-registry.ts'
import type { ValueSchemas } from '../value-schemas.ts'
import type { LogNotes } from './log-notes.ts'

type NotedSchemasParts = {
  readonly notes: Pick<LogNotes, 'schemasOf' | 'refresh' | 'add'>
  readonly registry: SchemaRegistry
  readonly values: ValueSchemas
  readonly logger: Pick<Logger, 'warn'>
}

/** The registry assigned an id to a new schema that the log already uses for another schema. */
class SchemaIdTakenError extends Error {
  override readonly name = 'SchemaIdTakenError'

  constructor(id: number) {
    super(
      `The schema registry gives this release's schema the id ${id}, which stands for another schema in the log. The registry has lost its schemas: restore its data, then start again.`,
    )
  }
}

/**
 * Returns the schema id for new records. Schemas recorded in the log take precedence over the registry, because records were
 * written with them: a registry that lost its data assigns the same ids to other schemas. Missing schemas are registered again, in
 * the order of their ids, before a new one.
 *
 * The id is recorded before any record is written with it. A crash before that leaves an unused id in the registry.
 */
export async function agreeOnSchema(parts: NotedSchemasParts): Promise<number> {
  const { notes, registry, values, logger } = parts
  const noted = notes.schemasOf(values.subject)
  const own = idOfSchema(noted, values.schema)
  try {
    await giveBack(parts, noted)
    const within = own === undefined ? firstSchemaWithinMs : undefined
    const given = await registry.idOf(values.subject, values.schema, within)
    if (own === undefined) return await noteSchema(parts, given)
    if (given !== own) {
      logger.warn(
        { given, inLog: own },
        'The schema registry has another id than the log for the schema; restore its data for other readers',
      )
    }
  } catch (error) {
    if (own === undefined) throw error
    logger.warn(
      { error },
      'The schema registry is not there; the schemas noted in the log are used',
    )
  }
  return own
}

/**
 * Timeout for the first schema. Nothing can be written before it is registered, and a new registry may first have to create its own
 * topic.
 */
const firstSchemaWithinMs = 30_000

/**
 * Registers schemas of the log that the registry lacks. If the registry refuses them, its administrator must restore them; nothing
 * here depends on it.
 */
async function giveBack(
  { registry, values, logger }: NotedSchemasParts,
  noted: ReadonlyMap<number, string>,
): Promise<void> {
  if (noted.size === 0) return
  try {
    const registered = await registry.versionsOf(values.subject)
    for (const [id, schema] of noted) {
      if (idOfSchema(registered, schema) !== undefined) continue
      const given = await registry.idOf(values.subject, schema)
      logger.warn({ id, given }, 'The schema registry lacked a schema of the log and has it again')
    }
  } catch (error) {
    logger.warn({ error }, 'The schema registry may lack schemas of the log')
  }
}

/** Records the schema of this release, and those of older releases that were never recorded. */
async function noteSchema(
  { notes, registry, values }: NotedSchemasParts,
  given: number,
): Promise<number> {
  const { subject, schema } = values
  const registered = new Map(await registry.versionsOf(subject)).set(given, schema)
  const noted = notes.schemasOf(subject)
  if (noted.has(given)) throw new SchemaIdTakenError(given)
  const missing = [...registered].filter(([id]) => !noted.has(id))
  await notes.add(missing.map(([id, text]) => ({ kind: 'schema', subject, id, schema: text })))
  // If two processes record at the same time, the first note is right.
  const agreed = idOfSchema(notes.schemasOf(subject), schema)
  if (agreed === undefined) throw new SchemaIdTakenError(given)
  return agreed
}

/** Returns a lookup of schemas by id: first those recorded in the log, then those of the registry. */
export function notedSchemas({
  notes,
  registry,
  values,
}: Omit<NotedSchemasParts, 'logger'>): Pick<SchemaRegistry, 'find'> {
  const findNoted = (id: number): avro.Type | undefined => {
    const schema = notes.schemasOf(values.subject).get(id)
    if (schema === undefined) return undefined
    return avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { ...values.typeOptions })
  }
  return {
    async find(id) {
      const known = findNoted(id)
      if (known !== undefined) return known
      // A newer release may have recorded it since the last refresh.
      await notes.refresh()
      return findNoted(id) ?? (await registry.find(id))
    },
  }
}

function idOfSchema(schemas: ReadonlyMap<number, string>, wanted: string): number | undefined {
  const parsed: unknown = JSON.parse(wanted)
  for (const [id, schema] of schemas) {
    if (isDeepStrictEqual(JSON.parse(schema), parsed)) return id
  }
  return undefined
}

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

/** The registry gives a new schema an id that stands for another schema in the log. */
class SchemaIdTakenError extends Error {
  override readonly name = 'SchemaIdTakenError'

  constructor(id: number) {
    super(
      `The schema registry gives this release's schema the id ${id}, which stands for another schema in the log. The registry has lost its schemas: restore its data, then start again.`,
    )
  }
}

/**
 * Returns the id that new records are written with. What is noted in the log wins over the registry, because records
 * were written by it: a registry that was lost and started empty gives known ids to other schemas. It is given back the
 * schemas that it lacks, in the order of their ids, before it is asked for a new one.
 *
 * The id is noted before any record is written with it. A crash before that leaves an id in the registry that no record
 * has.
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

/** Nothing can be written before the first schema is registered, for which a new registry may first make its own topic. */
const firstSchemaWithinMs = 30_000

/** A registry that takes no schemas from us is restored by its administrator. Nothing here depends on it. */
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

/** Notes this release's schema, and those of older releases that no release has noted. */
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
  // Of two processes that noted at the same time, the first one is right.
  const agreed = idOfSchema(notes.schemasOf(subject), schema)
  if (agreed === undefined) throw new SchemaIdTakenError(given)
  return agreed
}

/** Schemas by their ids: those noted in the log, then those of the registry. */
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
      // A newer release may have noted it since.
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

import type avro from 'avsc'
import type { SchemaRegistry } from '../schema-registry/schema-registry.ts'
import type { LogRecord } from './event-log.ts'

/** The Avro schemas of the values in a log, and access to the codec that decodes them. */
export type ValueSchemas = {
  /** Name under which the registry stores the schema and its versions. */
  readonly subject: string
  /** Schema of new values, as JSON. */
  readonly schema: string
  /** Id of the schema if there is no registry. */
  readonly embeddedSchemaId: number
  readonly typeOptions: Partial<avro.ForSchemaOptions>
  /** Returns the schema id that precedes a value; undefined if the value has none. */
  readonly schemaIdOf: (value: Uint8Array) => number | undefined
  readonly knows: (schemaId: number) => boolean
  /** Adds a schema to the codec. Throws if it describes something else. */
  readonly learn: (schemaId: number, type: avro.Type) => void
}

/**
 * Loads the schemas of records before the synchronous codec decodes them: during a rollout, an old release meets schemas that it
 * was not built with. Schemas that the registry does not know, or of another kind, are left for the codec to refuse. Rejects if the
 * registry does not answer; the records can then be read later.
 */
export function learnSchemas(
  registry: Pick<SchemaRegistry, 'find'>,
  values: ValueSchemas,
): (records: readonly LogRecord[]) => Promise<void> | undefined {
  return (records) => {
    const unknown = new Set<number>()
    for (const { value } of records) {
      const id = values.schemaIdOf(value)
      if (id !== undefined && !values.knows(id)) unknown.add(id)
    }
    if (unknown.size === 0) return undefined
    return learnAll(registry, values, unknown)
  }
}

async function learnAll(
  registry: Pick<SchemaRegistry, 'find'>,
  values: ValueSchemas,
  ids: Iterable<number>,
): Promise<void> {
  for (const id of ids) {
    const type = await registry.find(id)
    if (type === undefined) continue
    try {
      values.learn(id, type)
    } catch {
      // The codec reports each such record as one without a schema.
    }
  }
}

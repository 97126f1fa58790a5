import type avro from 'avsc'
import type { SchemaRegistry } from '../schema-registry/schema-registry.ts'
import type { LogRecord } from './event-log.ts'

/** What is known of the Avro values in a log, and the codec that is told what their schemas' ids stand for. */
export type ValueSchemas = {
  /** The name under which a registry keeps the schema and its versions. */
  readonly subject: string
  /** What new values are written with, as JSON. */
  readonly schema: string
  /** Its id where there is no registry. */
  readonly embeddedSchemaId: number
  readonly typeOptions: Partial<avro.ForSchemaOptions>
  /** The id that stands in front of a value; undefined for what is no such value. */
  readonly schemaIdOf: (value: Uint8Array) => number | undefined
  readonly knows: (schemaId: number) => boolean
  /** Throws for a schema of something else. */
  readonly learn: (schemaId: number, type: avro.Type) => void
}

/**
 * Looks up what the records were written with, so that the codec, which cannot wait, can read them: during a roll-out an
 * old release meets schemas that it was not made with. What the registry does not know, or what is of another kind,
 * is left to the codec to refuse. Rejects when the registry does not answer: then the records can be read later.
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
      // The codec will say of each such record that it has no schema.
    }
  }
}

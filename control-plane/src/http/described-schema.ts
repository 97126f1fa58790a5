import { z } from 'zod'

type Described = { additionalProperties?: unknown }

/** A contract as the API description shows it. */
export function describedSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io, override: leaveOpen })
  return described
}

/** Answers may gain fields, and requests may have fields that are ignored: no client may build on there being none. */
export function leaveOpen({ jsonSchema }: { jsonSchema: Described }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}

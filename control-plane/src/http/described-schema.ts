import { z } from 'zod'

type Described = { additionalProperties?: unknown }

/** Returns the JSON schema of a wire contract for the API description. */
export function describedSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    override: allowAdditionalProperties,
  })
  return described
}

/**
 * Allows additional properties. Responses may gain fields, and requests may contain fields that are ignored, so no client may rely
 * on a closed schema.
 */
export function allowAdditionalProperties({ jsonSchema }: { jsonSchema: Described }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}

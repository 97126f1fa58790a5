import { errorSchema, validationErrorSchema } from '@tollgate/schemas/http/errors'
import { describedSchema } from './described-schema.ts'

const errorRef = { $ref: '#/components/schemas/Error' }
const validationErrorRef = { $ref: '#/components/schemas/ValidationError' }

/** The bodies of refusals, and the responses that carry them: the same for every operation. */
export const errorComponents = {
  schemas: {
    Error: describedSchema(errorSchema, 'output'),
    ValidationError: describedSchema(validationErrorSchema, 'output'),
  },
  responses: {
    BadRequest: refusal('The request broke its schema, or a rule', {
      anyOf: [validationErrorRef, errorRef],
    }),
    Unauthorized: refusal('The secret key is missing, unknown, revoked or expired', errorRef),
    Refused: refusal('Refused; a 503 says in Retry-After when to try again', errorRef),
  },
}

export const errorResponses = {
  '400': { $ref: '#/components/responses/BadRequest' },
  '401': { $ref: '#/components/responses/Unauthorized' },
  default: { $ref: '#/components/responses/Refused' },
}

function refusal(description: string, schema: object): object {
  return { description, content: { 'application/json': { schema } } }
}

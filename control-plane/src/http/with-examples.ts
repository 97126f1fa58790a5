import type { Examples } from '@tollgate/schemas/http/examples/example'
import { operationExamples } from '@tollgate/schemas/http/examples/operations'
import { parameterExample } from '@tollgate/schemas/http/examples/parameters'

type MediaType = { readonly schema?: object; readonly examples?: object }
type Body = { readonly content?: Readonly<Record<string, MediaType>> }

export type ExampledOperation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses?: Readonly<Record<string, Body>>
}

type Parameter = {
  readonly name: string
  readonly required?: boolean
  readonly schema: object
}

/** Adds an example request and an example of the successful response to the operation. */
export function withExamples<Operation extends ExampledOperation>(
  operationId: string,
  operation: Operation,
): Operation {
  const { parameters, requestBody, responses } = operation
  const { body, answer } = operationExamples[operationId] ?? {}
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((parameter) => parameterWithExample(operationId, parameter)),
    }),
    ...(requestBody && { requestBody: bodyWithExamples(requestBody, body) }),
    ...(responses && {
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          status.startsWith('2') ? bodyWithExamples(response, answer) : response,
        ]),
      ),
    }),
  }
}

/**
 * Documentation pages fill in a parameter's example. The example of an optional parameter is in its schema, where it is only shown.
 */
function parameterWithExample(operationId: string, parameter: Parameter): Parameter {
  const example = parameterExample(operationId, parameter.name)
  if (example === undefined) return parameter
  if (parameter.required === true) return { ...parameter, example } as Parameter
  return { ...parameter, schema: { ...parameter.schema, examples: [example] } }
}

function bodyWithExamples<Described extends Body>(
  body: Described,
  examples: Examples | undefined,
): Described {
  const json = body.content?.['application/json']
  if (json === undefined || examples === undefined) return body
  const content = { ...body.content, 'application/json': { ...json, ...examplesIn(examples) } }
  return { ...body, content }
}

/** Returns the examples in the shape in which they are beside the schema of a body. */
export function examplesIn({ values }: Examples): { examples: Record<string, { value: unknown }> } {
  const entries = Object.entries(values).map(([name, value]) => [name, { value }] as const)
  return { examples: Object.fromEntries(entries) }
}

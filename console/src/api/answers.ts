import type { operations } from './openapi.d.ts'

type Responses<Name extends keyof operations> = operations[Name]['responses']
type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } }
  ? Body
  : never

/** The body with which an operation of the API answers a request that succeeded. */
export type Answer<Name extends keyof operations> =
  Responses<Name> extends { 200: infer Response }
    ? JsonOf<Response>
    : Responses<Name> extends { 201: infer Response }
      ? JsonOf<Response>
      : never

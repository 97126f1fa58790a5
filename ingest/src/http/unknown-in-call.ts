import { knownNamesOf, type BodySchema, type KnownNames } from '@tollgate/schemas/http/known-names'
import {
  findUnknownNames,
  unknownNamesMax,
  warningsHeader,
  warningsText,
  type UnknownName,
} from '@tollgate/schemas/http/unknown-names'
import { parseQuery } from '@tollgate/schemas/http/parse-query'
import type { Answer, HotHead } from './http-front.ts'

/** Numbers of unknown names in requests, by the kind of name and by the outcome. */
export type UnknownNameCounts = Record<UnknownName['kind'], { warned: number; refused: number }>

export type FindUnknown = (head: HotHead, body: unknown) => readonly UnknownName[]

/** Hot routes have no query parameters, so every parameter is unknown. */
const noParameters: KnownNames = { kind: 'object', fields: new Map() }

const none: readonly UnknownName[] = []

/** Returns a function that finds the names in a request that the route does not know. */
export function createFindUnknown(schema: BodySchema<unknown>): FindUnknown {
  const known = knownNamesOf(schema)
  return ({ query }, body) => {
    const fields = known === undefined ? none : findUnknownNames('field', known, body)
    if (query === '') return fields
    const parameters = findUnknownNames('parameter', noParameters, parseQuery(query))
    return [...fields, ...parameters].slice(0, unknownNamesMax)
  }
}

export function countUnknown(
  counts: UnknownNameCounts,
  names: readonly UnknownName[],
  outcome: 'warned' | 'refused',
): void {
  for (const { kind } of names) counts[kind][outcome] += 1
}

export function withWarnings(answer: Answer, names: readonly UnknownName[]): Answer {
  const { headers = [] } = answer
  return { ...answer, headers: [...headers, [warningsHeader, warningsText(names)]] }
}

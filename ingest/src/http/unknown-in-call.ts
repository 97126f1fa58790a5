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

/** How often names were unknown, by what they named and what the client got. */
export type UnknownNameCounts = Record<UnknownName['kind'], { warned: number; refused: number }>

export type FindUnknown = (head: HotHead, body: unknown) => readonly UnknownName[]

/** Hot routes have no parameters, so that any is unknown. */
const noParameters: KnownNames = { kind: 'object', fields: new Map() }

const none: readonly UnknownName[] = []

/** Returns what finds the names of a call that the route does not know. */
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

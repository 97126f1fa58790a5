import { nearestName } from '../nearest-name.ts'
import type { ValidationIssue } from './errors.ts'
import { hasOnlyKnownNames, visitUnknownNames, type KnownNames } from './known-names.ts'

export const warningsHeader = 'tollgate-warnings'
export const strictHeader = 'tollgate-strict'

/** A field of the body or a parameter of the query that the operation does not know and ignores. */
export type UnknownName = {
  readonly kind: 'field' | 'parameter'
  /** Path of its first occurrence. A name that is too long is cut. */
  readonly path: readonly (string | number)[]
  /** The path without positions in lists, such as `events[].unit`. */
  readonly name: string
  readonly nearest: string | undefined
}

/** Number of different names that one response reports. */
export const unknownNamesMax = 5
/** Characters of a name that are reported. */
const nameCharsMax = 64

const none: readonly UnknownName[] = []

/** Returns the first few different unknown names in `value`. In nearly all cases the list is empty. */
export function findUnknownNames(
  kind: UnknownName['kind'],
  known: KnownNames,
  value: unknown,
): readonly UnknownName[] {
  if (hasOnlyKnownNames(known, value)) return none
  const found = new Map<string, UnknownName>()
  const seen = new Map<Known, Set<string>>()
  visitUnknownNames(known, value, (place, given, fields) => {
    const shown = given.slice(0, nameCharsMax)
    let names = seen.get(fields)
    if (names === undefined) seen.set(fields, (names = new Set()))
    // Each item of a list repeats the names of the others.
    if (names.has(shown)) return true
    names.add(shown)
    const path = [...place, shown]
    const name = nameOf(path)
    if (!found.has(name))
      found.set(name, { kind, path, name, nearest: nearestKnown(given, fields) })
    return found.size < unknownNamesMax
  })
  return [...found.values()]
}

function nameOf(path: readonly (string | number)[]): string {
  let name = ''
  for (const part of path) {
    if (typeof part === 'number') name += '[]'
    else name += name === '' ? part : `.${part}`
  }
  return name
}

type Known = ReadonlyMap<string, unknown>

/** Cached because clients that send an unknown name send it with every request. */
const remembered = new WeakMap<Known, Map<string, string | undefined>>()
const rememberedMax = 256

function nearestKnown(given: string, known: Known): string | undefined {
  if (given.length > nameCharsMax) return undefined
  let names = remembered.get(known)
  if (names === undefined || names.size >= rememberedMax) {
    names = new Map<string, string | undefined>()
    remembered.set(known, names)
  }
  if (!names.has(given)) names.set(given, nearestName(given, known.keys()))
  return names.get(given)
}

/**
 * Returns the value of the Tollgate-Warnings header, a list as in RFC 9651: `unknown_field;name="unit";nearest="units"`. It has at
 * most about 1,000 ASCII characters. Clients choose the names, so `names` must have at most `unknownNamesMax` items.
 */
export function warningsText(names: readonly UnknownName[]): string {
  return names.map(warningOf).join(', ')
}

const texts = new Map<string, string>()

function warningOf(unknown: UnknownName): string {
  const { kind, name, nearest = '' } = unknown
  const key = `${kind} ${nearest} ${name}`
  const text = texts.get(key) ?? writeWarning(unknown)
  if (texts.size >= rememberedMax) texts.clear()
  texts.set(key, text)
  return text
}

function writeWarning({ kind, name, nearest }: UnknownName): string {
  const near = nearest === undefined ? '' : `;nearest="${nearest}"`
  return `${warningText(`unknown_${kind}`, name)}${near}`
}

/** Returns one member of the Tollgate-Warnings header about a name. */
export function warningText(code: string, name: string): string {
  return `${code};name="${headerText(name)}"`
}

const headerCharsMax = 120

/** Percent-encodes all characters except those that are safe in headers. */
function headerText(text: string): string {
  const encoded = text
    .slice(-nameCharsMax)
    .toWellFormed()
    .replaceAll(/[^A-Za-z0-9_.[\]$:@/-]+/gu, encodeURIComponent)
    .replaceAll(/['()*!~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  if (encoded.length <= headerCharsMax) return encoded
  // A cut escape or a part of a character could not be decoded.
  let cut = encoded.slice(0, headerCharsMax).replace(/%[0-9A-F]?$/, '')
  while (!isDecodable(cut)) cut = cut.slice(0, cut.lastIndexOf('%'))
  return cut
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Returns the issues in the body of the refusal of a strict request. */
export function unknownNameIssues(names: readonly UnknownName[]): ValidationIssue[] {
  return names.map(({ kind, path, name, nearest }) => {
    const hint = nearest === undefined ? '' : `. Did you mean ${nearest}?`
    return { code: 'unrecognized_keys', path: [...path], message: `Unknown ${kind} ${name}${hint}` }
  })
}

/** Returns the error code of the refusal of a strict request. */
export function unknownCodeOf(
  names: readonly UnknownName[],
): 'unknown_field' | 'unknown_parameter' {
  return names.some(({ kind }) => kind === 'field') ? 'unknown_field' : 'unknown_parameter'
}

/** Returns whether the Tollgate-Strict header requests a refusal instead of a warning. */
export function isStrictHeader(text: string): boolean {
  return text.trim().toLowerCase() === 'true'
}

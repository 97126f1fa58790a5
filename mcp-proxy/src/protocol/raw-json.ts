import { isPlainObject } from '@tollgate/schemas/json-object'
import type { MessageId } from './messages.ts'

/*
 * JSON.parse rounds integers beyond 2^53, and JSON.stringify writes the rounded value. These functions cut and join JSON text
 * instead, so that all digits are kept. Their input must be valid JSON.
 */

/** Returns the JSON texts of an array's items. */
export function itemsOf(text: string): string[] {
  const items: string[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charAt(at) !== ']') {
    const end = endOfValue(text, at)
    items.push(text.slice(at, end))
    at = nextToken(text, end)
  }
  return items
}

/**
 * Returns the JSON texts of an object's members by name. If a name occurs more than once, the last member counts, as in JSON.parse.
 */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>()
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charAt(at) !== '}') {
    const endOfName = endOfString(text, at)
    const name = JSON.parse(text.slice(at, endOfName)) as string
    const begin = skipSpace(text, skipSpace(text, endOfName) + 1)
    const end = endOfValue(text, begin)
    members.set(name, text.slice(begin, end))
    at = nextToken(text, end)
  }
  return members
}

export function objectOf(members: Iterable<readonly [name: string, text: string]>): string {
  const written = Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `{${written.join(',')}}`
}

/** Returns the text of a message with another id. The texts of all other values are not changed. */
export function withId(text: string, id: MessageId): string {
  return objectOf(membersOf(text).set('id', JSON.stringify(id)))
}

/**
 * Returns `after` as JSON. `before` is the value parsed from `text`. Values that `after` shares with `before` keep their text,
 * including all digits of their numbers.
 */
export function rewritten(text: string, before: unknown, after: unknown): string {
  if (after === before) return text
  if (isPlainObject(before) && isPlainObject(after)) {
    const texts = membersOf(text)
    const members = Object.entries(after).filter(([, value]) => value !== undefined)
    return objectOf(
      members.map(([name, value]) => {
        const known = texts.get(name)
        const written =
          known === undefined ? JSON.stringify(value) : rewritten(known, before[name], value)
        return [name, written]
      }),
    )
  }
  if (Array.isArray(before) && Array.isArray(after)) return rewrittenItems(text, before, after)
  return JSON.stringify(after)
}

/**
 * Writes the items of an array. Removed items shift the positions of later ones, so objects are found by identity and other values
 * by position.
 */
function rewrittenItems(
  text: string,
  before: readonly unknown[],
  after: readonly unknown[],
): string {
  const texts = itemsOf(text)
  const places = new Map(before.map((item, place) => [item, place]))
  const items = after.map((item, place) => {
    const from = isPlainObject(item) ? (places.get(item) ?? place) : place
    const known = texts[from]
    return known === undefined ? JSON.stringify(item) : rewritten(known, before[from], item)
  })
  return `[${items.join(',')}]`
}

/**
 * Returns the same text for values that differ only in the order of members, in whitespace or in the escapes of strings. All other
 * values get different texts. Numbers are compared as text. The recursion is as deep as the value is nested.
 */
export function canonicalOf(text: string): string {
  return new Canonical(text).value()
}

class Canonical {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(): string {
    this.#at = skipSpace(this.#text, this.#at)
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#object()
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      default:
        return this.#slice(endOfValue(this.#text, this.#at))
    }
  }

  #object(): string {
    const members: [name: string, value: string][] = []
    this.#enter()
    while (this.#text.charAt(this.#at) !== '}') {
      const name = this.#string()
      this.#at = skipSpace(this.#text, this.#at) + 1
      members.push([name, this.value()])
      this.#at = nextToken(this.#text, this.#at)
    }
    this.#at += 1
    members.sort(([a], [b]) => (a < b ? -1 : 1))
    let written = '{'
    for (const [name, value] of members) written += `${name}:${value},`
    return `${written}}`
  }

  #array(): string {
    let written = '['
    this.#enter()
    while (this.#text.charAt(this.#at) !== ']') {
      written += `${this.value()},`
      this.#at = nextToken(this.#text, this.#at)
    }
    this.#at += 1
    return `${written}]`
  }

  #string(): string {
    const written = this.#slice(endOfString(this.#text, this.#at))
    return written.includes('\\') ? JSON.stringify(JSON.parse(written)) : written
  }

  #enter(): void {
    this.#at = skipSpace(this.#text, this.#at + 1)
  }

  #slice(end: number): string {
    const slice = this.#text.slice(this.#at, end)
    this.#at = end
    return slice
  }
}

/** Returns the position after the closing quote of the string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at)
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
}

/** Returns the position after the value that begins at `start`. Works without recursion, so the nesting may be of any depth. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; ;) {
    switch (text.charAt(at)) {
      case '"':
        at = endOfString(text, at)
        break
      case '{':
      case '[':
        depth += 1
        at += 1
        break
      case '}':
      case ']':
        depth -= 1
        at += 1
        break
      default:
        at += 1
        if (depth === 0) while (isOfLiteral(text, at)) at += 1
        else continue
    }
    if (depth === 0) return at
  }
}

const behindLiteral = new Set(['', ',', ']', '}', ' ', '\n', '\r', '\t'])

function isOfLiteral(text: string, at: number): boolean {
  return !behindLiteral.has(text.charAt(at))
}

/** Returns the position of the next item or member, or of the closing bracket. `end` is the position after the previous value. */
function nextToken(text: string, end: number): number {
  const at = skipSpace(text, end)
  return text.charAt(at) === ',' ? skipSpace(text, at + 1) : at
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (' \n\r\t'.includes(text.charAt(at)) && at < text.length) at += 1
  return at
}
